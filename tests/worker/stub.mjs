// Stands in for Workers AI and Vectorize, which have no local form: a text's embedding counts its words in buckets,
// and neighbours are found by cosine over the rows of the same D1 database.
import { WorkerEntrypoint } from "cloudflare:workers";

const SIZE = 256;

function embed(text) {
  const vector = new Array(SIZE).fill(0);
  for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []) {
    let hash = 2166136261;
    for (const c of word) hash = Math.imul(hash ^ c.codePointAt(0), 16777619) >>> 0;
    vector[hash % SIZE] += 1;
  }
  return vector;
}

function cosine(a, b) {
  let [dot, aa, bb] = [0, 0, 0];
  for (let i = 0; i < SIZE; i++) {
    dot += a[i] * b[i];
    aa += a[i] * a[i];
    bb += b[i] * b[i];
  }
  return aa && bb ? dot / Math.sqrt(aa * bb) : 0;
}

export class Ai extends WorkerEntrypoint {
  run(_model, { text }) {
    return { shape: [text.length, SIZE], data: text.map(embed) };
  }
}

// A vector index keeps its vectors; this one makes them when it first meets a text.
const kept = new Map();

function vectorOf(text) {
  if (!kept.has(text)) kept.set(text, embed(text));
  return kept.get(text);
}

export class Vectorize extends WorkerEntrypoint {
  async query(vector, { topK }) {
    const { results } = await this.env.DB.prepare("SELECT id, text FROM memories").all();
    const matches = results
      .map((row) => ({ id: String(row.id), score: cosine(vector, vectorOf(row.text)) }))
      .filter((match) => match.score > 0.2)
      .sort((a, b) => b.score - a.score)
      .slice(0, topK);
    return { count: matches.length, matches };
  }
}

export default { fetch: () => new Response(null, { status: 404 }) };
