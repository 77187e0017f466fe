import unittest

import sessions


class Sessions(unittest.TestCase):
    def setUp(self):
        self.db = sessions.connect(":memory:")

    def test_who_signed_in_is_known(self):
        token = sessions.sign_in(self.db, "ada")
        self.assertEqual(sessions.user_of(self.db, token), "ada")

    def test_an_unknown_token_is_nobody(self):
        self.assertIsNone(sessions.user_of(self.db, "made-up"))


if __name__ == "__main__":
    unittest.main()
