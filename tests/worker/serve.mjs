// node serve.mjs ROWS.json — runs the Worker in workerd on a loopback port, seeded with the rows of the file
// ([{text, created_at?, session?, project?}]), prints {"port": N} and ends when its standard input does.
// The token is read from the environment variable WORKER_TOKEN.
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { Miniflare } from "miniflare";

const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const module = { modules: true, compatibilityDate: "2026-04-01", d1Databases: { DB: "memories" } };
const miniflare = new Miniflare({
  host: "127.0.0.1",
  port: 0,
  cf: false,
  workers: [
    {
      ...module,
      name: "memory",
      scriptPath: here("worker.mjs"),
      bindings: { TOKEN: process.env.WORKER_TOKEN },
      serviceBindings: {
        AI: { name: "stub", entrypoint: "Ai" },
        VECTORIZE: { name: "stub", entrypoint: "Vectorize" },
      },
    },
    { ...module, name: "stub", scriptPath: here("stub.mjs") },
  ],
});

process.stdin.on("end", async () => {
  await miniflare.dispose();
  process.exit(0);
}).resume();

const url = await miniflare.ready;
const db = await miniflare.getD1Database("DB", "memory");
await db.prepare(
  "CREATE TABLE memories (id INTEGER PRIMARY KEY, text TEXT NOT NULL, created_at TEXT, session TEXT, project TEXT)",
).run();
await db.prepare("CREATE VIRTUAL TABLE found USING fts5(text, content='memories', content_rowid='id')").run();
for (const row of JSON.parse(await readFile(process.argv[2], "utf8"))) {
  const { meta } = await db
    .prepare("INSERT INTO memories (text, created_at, session, project) VALUES (?, ?, ?, ?)")
    .bind(row.text, row.created_at ?? null, row.session ?? null, row.project ?? null)
    .run();
  await db.prepare("INSERT INTO found (rowid, text) VALUES (?, ?)").bind(meta.last_row_id, row.text).run();
}
process.stdout.write(`${JSON.stringify({ port: Number(url.port) })}\n`);
