//! The managed block: our lines inside a text that belongs to somebody else. Bytes in, bytes out; no files here.
//!
//! Two whole-line markers enclose it. Everything outside them comes back byte for byte, whatever its line
//! endings, encoding or final newline. Markers that do not pair up mean that somebody edited between them: such a
//! text is refused, never repaired, because where our lines end can only be guessed.

use std::ops::Range;

const BEGIN: &str = "<!-- pao:briefing:begin agent=";
const END: &str = "<!-- pao:briefing:end agent=";
const CLOSE: &str = " -->";
const BOM: &[u8] = b"\xef\xbb\xbf";

/// Why a text cannot be edited.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BlockError {
    /// The markers do not pair up.
    #[error("line {line}: {why}")]
    Damaged {
        /// Line of the marker, from 1.
        line: usize,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The last code fence is never closed, so an appended block would be part of it.
    #[error("line {line}: the code fence that opens here is never closed")]
    OpenFence {
        /// Line of the fence, from 1.
        line: usize,
    },
    /// It is not a text of single bytes or UTF-8.
    #[error("it is not a plain text file")]
    NotText,
    /// The agent's id or the block's own lines would not read back.
    #[error("the block would not read back as written")]
    Unfit,
}

/// One block as found: whole lines, with the endings of all of them.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Found {
    agent: String,
    range: Range<usize>,
}

/// Puts the block of `agent` at the end of the text, or replaces the one that is there. `body` is given with LF
/// and written with the text's own line ending.
pub fn insert(text: &[u8], agent: &str, body: &str) -> Result<Vec<u8>, BlockError> {
    if !writable(agent) {
        return Err(BlockError::Unfit);
    }
    // UTF-16 and other wide encodings: single bytes appended to them would not be text any more.
    if text.contains(&0) || text.starts_with(b"\xff\xfe") || text.starts_with(b"\xfe\xff") {
        return Err(BlockError::NotText);
    }
    let scan = scan(text)?;
    let (before, after, old) = if let Some(found) = scan.blocks.iter().find(|b| b.agent == agent) {
        let old = &text[found.range.clone()];
        (&text[..found.range.start], &text[found.range.end..], Some(old))
    } else {
        if let Some(line) = scan.open_fence {
            return Err(BlockError::OpenFence { line });
        }
        (text, &[][..], None)
    };
    // A replaced block keeps its own ending, by which `remove` knows what stands before it.
    let eol = ending(old.unwrap_or(text));
    let block = render(agent, body, eol);
    let mut new = before.to_vec();
    match old {
        // The replaced block ends as it ended.
        Some(old) => {
            new.extend(&block);
            if old.ends_with(b"\n") {
                new.extend(eol);
            }
        }
        // A text without a final newline stays one: the newline goes before the block instead of after it, and
        // `remove` knows by that which of the two was ours.
        None if unended(text) => {
            new.extend(eol);
            new.extend(&block);
        }
        None => {
            new.extend(&block);
            new.extend(eol);
        }
    }
    new.extend(after);
    let back = self::scan(&new).map_err(|_| BlockError::Unfit)?;
    let ours = |b: &&Found| b.agent == agent;
    if back.blocks.iter().filter(ours).count() != 1 || back.blocks.len() < scan.blocks.len() {
        return Err(BlockError::Unfit);
    }
    Ok(new)
}

/// Takes the block of `agent` out; `None` when there is none.
pub fn remove(text: &[u8], agent: &str) -> Result<Option<Vec<u8>>, BlockError> {
    let scan = scan(text)?;
    let Some(found) = scan.blocks.into_iter().find(|b| b.agent == agent) else { return Ok(None) };
    let Range { mut start, end } = found.range;
    let block = &text[start..end];
    if !block.ends_with(b"\n") {
        // The newline before the block is ours, of the same kind as those inside it.
        let eol = ending(block);
        start -= if text[..start].ends_with(eol) { eol.len() } else { 0 };
    }
    Ok(Some([&text[..start], &text[end..]].concat()))
}

/// First and last line of the block of `agent`, from 1.
pub fn lines(text: &[u8], agent: &str) -> Option<(usize, usize)> {
    let found = scan(text).ok()?.blocks.into_iter().find(|b| b.agent == agent)?;
    let ends = |text: &[u8]| memchr::memchr_iter(b'\n', text).count();
    let first = 1 + ends(&text[..found.range.start]);
    let block = &text[found.range];
    Some((first, first + ends(block.strip_suffix(b"\n").unwrap_or(block))))
}

/// Whose blocks stand in the text, in their order.
pub fn agents(text: &[u8]) -> Result<Vec<String>, BlockError> {
    Ok(scan(text)?.blocks.into_iter().map(|block| block.agent).collect())
}

fn writable(agent: &str) -> bool {
    !agent.is_empty()
        && agent.len() <= 64
        && agent.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
}

/// The block without the ending of its last line.
fn render(agent: &str, body: &str, eol: &[u8]) -> Vec<u8> {
    let mut block = format!("{BEGIN}{agent}{CLOSE}").into_bytes();
    block.extend(eol);
    for line in body.lines() {
        block.extend(line.as_bytes());
        block.extend(eol);
    }
    block.extend(format!("{END}{agent}{CLOSE}").as_bytes());
    block
}

/// The text's prevailing line ending.
fn ending(text: &[u8]) -> &'static [u8] {
    let all = text.split(|b| *b == b'\n').count() - 1;
    let crlf = text.windows(2).filter(|w| w == b"\r\n").count();
    if crlf * 2 > all { b"\r\n" } else { b"\n" }
}

fn unended(text: &[u8]) -> bool {
    let text = text.strip_prefix(BOM).unwrap_or(text);
    !text.is_empty() && !text.ends_with(b"\n")
}

struct Scan {
    blocks: Vec<Found>,
    /// Line of a fence that is still open at the end.
    open_fence: Option<usize>,
}

/// Finds all blocks, or the first marker that does not pair up.
fn scan(text: &[u8]) -> Result<Scan, BlockError> {
    let mut blocks: Vec<Found> = Vec::new();
    let mut open: Option<(String, usize, usize)> = None;
    let mut fence: Option<(Fence, usize)> = None;
    let mut at = 0;
    let damaged = |line, why| Err(BlockError::Damaged { line, why });
    for (index, raw) in text.split_inclusive(|b| *b == b'\n').enumerate() {
        let (start, line) = (at, index + 1);
        at += raw.len();
        let mut content = raw.strip_suffix(b"\n").unwrap_or(raw);
        content = content.strip_suffix(b"\r").unwrap_or(content);
        let bom = if index == 0 && content.starts_with(BOM) { BOM.len() } else { 0 };
        content = &content[bom..];
        if let Some((opened, _)) = &fence {
            if opened.closed_by(content) {
                fence = None;
            }
            continue;
        }
        if let Some(opened) = Fence::opening(content) {
            fence = Some((opened, line));
            continue;
        }
        if let Some(agent) = marker(content, BEGIN) {
            if open.is_some() {
                return damaged(line, "a briefing block begins inside another one");
            }
            if blocks.iter().any(|b| b.agent == agent) {
                return damaged(line, "a second briefing block of the same agent begins");
            }
            open = Some((agent, start + bom, line));
        } else if let Some(agent) = marker(content, END) {
            match open.take() {
                Some((begun, from, _)) if begun == agent => {
                    blocks.push(Found { agent, range: from..at });
                }
                Some(_) => return damaged(line, "a briefing block ends with another agent's marker"),
                None => return damaged(line, "a briefing block ends that never began"),
            }
        }
    }
    match open {
        Some((_, _, line)) => damaged(line, "the briefing block that begins here never ends"),
        None => Ok(Scan { blocks, open_fence: fence.map(|(_, line)| line) }),
    }
}

fn marker(line: &[u8], kind: &str) -> Option<String> {
    let line = std::str::from_utf8(line).ok()?.trim_end_matches([' ', '\t']);
    let agent = line.strip_prefix(kind)?.strip_suffix(CLOSE)?;
    writable(agent).then(|| agent.to_string())
}

/// A fence as in `CommonMark` 0.31, section 4.5: at least three backticks or tildes after at most three spaces.
/// One that is indented deeper stands in a list, where a line that begins in the first column ends it.
struct Fence {
    mark: u8,
    length: usize,
}

impl Fence {
    fn run(line: &[u8]) -> Option<(Self, &[u8])> {
        let indent = line.iter().take_while(|b| **b == b' ').count();
        let line = line.get(indent..).filter(|_| indent <= 3)?;
        let mark = *line.first().filter(|b| matches!(b, b'`' | b'~'))?;
        let length = line.iter().take_while(|b| **b == mark).count();
        (length >= 3).then(|| (Self { mark, length }, &line[length..]))
    }

    fn opening(line: &[u8]) -> Option<Self> {
        let (fence, info) = Self::run(line)?;
        // Backticks in the info string make it inline code.
        (fence.mark == b'~' || !info.contains(&b'`')).then_some(fence)
    }

    fn closed_by(&self, line: &[u8]) -> bool {
        Self::run(line).is_some_and(|(other, rest)| {
            other.mark == self.mark && other.length >= self.length && rest.iter().all(u8::is_ascii_whitespace)
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const BODY: &str = "@CONTEXT_BRIEFING.md";

    fn put(text: &str) -> String {
        String::from_utf8(insert(text.as_bytes(), "a1", BODY).unwrap()).unwrap()
    }

    fn there_and_back(text: &[u8]) {
        let with = insert(text, "a1", BODY).unwrap();
        assert_ne!(with, text);
        assert_eq!(remove(&with, "a1").unwrap().unwrap(), text);
    }

    #[test]
    fn the_block_stands_below_what_was_there() {
        assert_eq!(
            put("# Repo\n"),
            "# Repo\n<!-- pao:briefing:begin agent=a1 -->\n@CONTEXT_BRIEFING.md\n<!-- pao:briefing:end agent=a1 -->\n"
        );
    }

    #[test]
    fn a_crlf_file_gets_one_crlf_block_however_often_it_is_written() {
        let mut text = "# Repo\r\nkeep\r\n".to_string();
        for _ in 0..5 {
            text = put(&text);
        }
        assert_eq!(text.matches("begin agent").count(), 1);
        assert_eq!(text.matches('\n').count(), text.matches("\r\n").count());
        assert_eq!(remove(text.as_bytes(), "a1").unwrap().unwrap(), b"# Repo\r\nkeep\r\n");
    }

    #[test]
    fn every_kind_of_text_comes_back_byte_for_byte() {
        for text in [
            &b""[..],
            b"\n",
            b" \n\t\n",
            b"x",
            b"x\n",
            b"x\r\n",
            b"x\r",
            b"a\r\nb",
            b"a\nb\r\nc\r\n",
            b"\xef\xbb\xbf",
            b"\xef\xbb\xbfx",
            b"caf\xe9\n",
            b"```\ncode\n```\n",
            b"~~~~ text\n```\n~~~~",
            b"text\n    ```\n",
        ] {
            there_and_back(text);
        }
    }

    #[test]
    fn blocks_of_several_agents_live_side_by_side_and_go_in_any_order() {
        for text in ["x", "x\n", "x\r\ny"] {
            let one = insert(text.as_bytes(), "a1", BODY).unwrap();
            let two = insert(&one, "b2", BODY).unwrap();
            for (first, second) in [("a1", "b2"), ("b2", "a1")] {
                let left = remove(&two, first).unwrap().unwrap();
                assert_eq!(remove(&left, second).unwrap().unwrap(), text.as_bytes());
            }
        }
    }

    #[test]
    fn text_written_after_the_block_survives_its_removal() {
        let text = put("x") + "\nmore\n";
        assert_eq!(remove(text.as_bytes(), "a1").unwrap().unwrap(), b"x\nmore\n".to_vec());
    }

    #[test]
    fn a_block_shown_in_a_code_fence_is_an_example_and_not_ours() {
        let example = "```md\n<!-- pao:briefing:begin agent=a1 -->\nold\n```\ntext\n";
        assert_eq!(remove(example.as_bytes(), "a1").unwrap(), None);
        there_and_back(example.as_bytes());
        there_and_back(b"  ~~~~\n<!-- pao:briefing:end agent=a1 -->\n~~~\n~~~~~  \n");
    }

    #[test]
    fn an_open_fence_is_refused_because_the_block_would_be_code() {
        assert_eq!(insert(b"a\n```sh\nls\n", "a1", BODY), Err(BlockError::OpenFence { line: 2 }));
    }

    #[test]
    fn markers_that_do_not_pair_up_are_refused_with_their_line() {
        let begin = "<!-- pao:briefing:begin agent=a1 -->\n";
        let end = "<!-- pao:briefing:end agent=a1 -->\n";
        let other = "<!-- pao:briefing:end agent=b2 -->\n";
        for (text, at) in [
            (format!("# Repo\nkeep1\n{begin}old\nkeep2"), 3),
            (format!("keep\n{end}"), 2),
            (format!("{end}{begin}"), 1),
            (format!("{begin}{begin}{end}{end}"), 2),
            (format!("{begin}{end}{begin}{end}"), 3),
            (format!("{begin}x\n{other}"), 3),
        ] {
            for error in
                [insert(text.as_bytes(), "a1", BODY).unwrap_err(), remove(text.as_bytes(), "a1").unwrap_err()]
            {
                assert!(matches!(error, BlockError::Damaged { line, .. } if line == at), "{text}: {error}");
            }
        }
    }

    #[test]
    fn what_is_not_text_or_would_not_read_back_is_refused() {
        assert_eq!(insert(b"\xff\xfea\0", "a1", BODY), Err(BlockError::NotText));
        assert_eq!(insert(b"a\0b", "a1", BODY), Err(BlockError::NotText));
        assert_eq!(insert(b"a", "a 1", BODY), Err(BlockError::Unfit));
        assert_eq!(insert(b"a", "a1", "```\nx"), Err(BlockError::Unfit));
        assert_eq!(insert(b"a", "a1", "<!-- pao:briefing:end agent=a1 -->"), Err(BlockError::Unfit));
    }

    /// Texts made of the pieces that matter, and of any other bytes.
    fn texts() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop_oneof![
            Just(b"\n".to_vec()),
            Just(b"\r\n".to_vec()),
            Just(b"\r".to_vec()),
            Just(b"```".to_vec()),
            Just(b"~~~~".to_vec()),
            Just(b"  ".to_vec()),
            Just(b"<!-- pao:briefing:begin agent=a1 -->".to_vec()),
            Just(b"<!-- pao:briefing:end agent=a1 -->".to_vec()),
            Just(b"<!-- pao:briefing:begin agent=b2 -->\nx\n<!-- pao:briefing:end agent=b2 -->\n".to_vec()),
            Just(BOM.to_vec()),
            proptest::collection::vec(any::<u8>(), 0..12),
            "[a-z #*]{0,12}".prop_map(String::into_bytes),
        ];
        proptest::collection::vec(piece, 0..14).prop_map(|p| p.concat())
    }

    proptest! {
        #[test]
        fn inserting_changes_nothing_outside_and_removing_undoes_it(text in texts()) {
            let had = remove(&text, "a1");
            if let Ok(with) = insert(&text, "a1", BODY) {
                prop_assert_eq!(&insert(&with, "a1", BODY).unwrap(), &with);
                let without = remove(&with, "a1").unwrap().unwrap();
                match had.unwrap() {
                    None => prop_assert_eq!(without, text),
                    Some(outside) => prop_assert_eq!(without, outside),
                }
            } else {
                prop_assert!(!matches!(had, Ok(Some(_))) || text.contains(&0) || text.starts_with(b"\xff\xfe")
                    || text.starts_with(b"\xfe\xff"));
            }
        }

        #[test]
        fn plain_prose_is_never_refused(text in "([a-zA-Z#*>`~<!\\- ]{0,2}[a-z ]{1,20}\r?\n){0,8}[a-z]{0,5}") {
            let with = insert(text.as_bytes(), "a1", BODY).unwrap();
            prop_assert_eq!(remove(&with, "a1").unwrap().unwrap(), text.into_bytes());
        }
    }
}
