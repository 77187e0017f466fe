// A semantic index of old transcripts as people run it on a Cloudflare Worker: rows in D1 with FTS5, embeddings by
// Workers AI, neighbours by Vectorize. It speaks JSON-RPC 2.0 at /rpc, MCP at /mcp (stateless) and /mcp-session
// (wants a session id, answers as an event stream), and plain search at /api/search.

const json = (value, status = 200, headers = {}) =>
  new Response(JSON.stringify(value), { status, headers: { "content-type": "application/json", ...headers } });

const words = (text) => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

async function search(env, query, limit) {
  const asked = words(query);
  if (asked.length === 0) return [];
  const match = asked.map((word) => `"${word}"`).join(" OR ");
  const lexical = await env.DB.prepare(
    "SELECT rowid AS id, -bm25(found) AS score FROM found WHERE found MATCH ? ORDER BY bm25(found) LIMIT ?",
  ).bind(match, limit).all();
  const vector = (await env.AI.run("@cf/baai/bge-base-en-v1.5", { text: [query] })).data[0];
  const near = await env.VECTORIZE.query(vector, { topK: limit });
  const scores = new Map(lexical.results.map((row) => [Number(row.id), row.score]));
  for (const { id, score } of near.matches) scores.set(Number(id), (scores.get(Number(id)) ?? 0) + score);
  const rows = await env.DB.prepare("SELECT * FROM memories WHERE id IN (SELECT value FROM json_each(?))")
    .bind(JSON.stringify([...scores.keys()])).all();
  const order = new Map([...scores.keys()].map((id, place) => [id, place]));
  const results = rows.results
    .sort((a, b) => order.get(a.id) - order.get(b.id))
    .map((row) => ({ ...row, id: String(row.id), score: scores.get(row.id) }));
  return results.sort((a, b) => b.score - a.score).slice(0, limit);
}

async function rpc(env, call) {
  const reply = (body) => json({ jsonrpc: "2.0", id: call.id ?? null, ...body });
  if (call.jsonrpc !== "2.0") return reply({ error: { code: -32600, message: "Invalid Request" } });
  if (call.method !== "search") return reply({ error: { code: -32601, message: `Method not found: ${call.method}` } });
  if (typeof call.params?.query !== "string") return reply({ error: { code: -32602, message: "query is missing" } });
  return reply({ result: { results: await search(env, call.params.query, call.params.limit ?? 10) } });
}

const sessions = new Set();

async function mcp(env, request, stateful) {
  const call = await request.json();
  const session = request.headers.get("mcp-session-id");
  const answer = (body, headers = {}) => {
    const reply = { jsonrpc: "2.0", id: call.id, ...body };
    if (!stateful) return json(reply, 200, headers);
    const ping = { jsonrpc: "2.0", method: "notifications/message", params: { level: "info", data: "searching" } };
    const events = [ping, reply].map((event) => `event: message\r\ndata: ${JSON.stringify(event)}\r\n\r\n`);
    return new Response(events.join(""), { headers: { "content-type": "text/event-stream", ...headers } });
  };
  if (call.method === "initialize") {
    const id = crypto.randomUUID();
    sessions.add(id);
    const result = {
      protocolVersion: "2025-06-18",
      capabilities: { tools: {} },
      serverInfo: { name: "memory", version: "1" },
    };
    return answer({ result }, stateful ? { "mcp-session-id": id } : {});
  }
  if (stateful && !sessions.has(session)) {
    const error = { code: -32000, message: "Bad Request: Mcp-Session-Id header is required" };
    return json({ jsonrpc: "2.0", id: null, error }, 400);
  }
  if (call.method.startsWith("notifications/")) return new Response(null, { status: 202 });
  if (call.method !== "tools/call") return answer({ error: { code: -32601, message: "Method not found" } });
  if (call.params.name !== "search") {
    return answer({ result: { isError: true, content: [{ type: "text", text: `no tool ${call.params.name}` }] } });
  }
  const results = await search(env, call.params.arguments.query, call.params.arguments.limit ?? 10);
  return answer({ result: { content: [{ type: "text", text: JSON.stringify({ results }) }] } });
}

export default {
  async fetch(request, env) {
    const url = new URL(request.url);
    const token = url.pathname === "/api/search"
      ? request.headers.get("x-api-key")
      : request.headers.get("authorization")?.replace(/^Bearer /, "");
    if (token !== env.TOKEN) return json({ error: "unauthorized" }, 401);
    switch (url.pathname) {
      case "/rpc":
        return rpc(env, await request.json());
      case "/mcp":
        return mcp(env, request, false);
      case "/mcp-session":
        return mcp(env, request, true);
      case "/api/search": {
        const matches = await search(env, url.searchParams.get("q") ?? "", Number(url.searchParams.get("limit") ?? 10));
        return json({ query: url.searchParams.get("q"), count: matches.length, matches });
      }
      default:
        return json({ error: "not found" }, 404);
    }
  },
};
