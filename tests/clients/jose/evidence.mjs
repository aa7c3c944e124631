// jose, unchanged, checks snapshots and evidence with the published keys; reads one JSON object, prints what it saw as another.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { compactVerify, createLocalJWKSet } from "jose";

const { keys, cases, evidence } = JSON.parse(readFileSync(0, "utf8"));
const published = createLocalJWKSet({ keys });
const verified = (jws) => compactVerify(jws, published, { algorithms: ["ES256"] });
const sha = (...parts) => createHash("sha256").update(Buffer.concat(parts.map((one) => Buffer.from(one)))).digest();

// RFC 8785: JSON as ECMAScript writes it, names sorted by UTF-16.
const canonical = (value) => {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  const members = Object.keys(value).sort().map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`);
  return `{${members.join(",")}}`;
};

const seen = { cases: {} };
for (const [name, jws] of Object.entries(cases)) {
  try {
    seen.cases[name] = new TextDecoder().decode((await verified(jws)).payload);
  } catch (error) {
    seen.cases[name] = error.code;
  }
}
const { payload, protectedHeader } = await verified(evidence.snapshot.jws);
seen.typ = protectedHeader.typ;
seen.text = new TextDecoder().decode(payload) === evidence.snapshot.text;
const { schema, content, seal } = JSON.parse(evidence.snapshot.text);
seen.content = sha(canonical({ schema, content })).toString("hex") === seal.content_digest;
let before = "0".repeat(64);
seen.chain = evidence.chain.every(({ hash, ...entry }) => {
  const found = sha(Buffer.from(before, "hex"), canonical(entry)).toString("hex");
  before = hash;
  return found === hash;
});
const checkpoint = await verified(evidence.checkpoint.jws);
const { root, size } = JSON.parse(new TextDecoder().decode(checkpoint.payload));
let [node, last, digest] = [evidence.checkpoint.position, size - 1, sha([0], canonical(evidence.checkpoint.leaf))];
for (const step of evidence.checkpoint.path.map((one) => Buffer.from(one, "hex"))) {
  if (node % 2 || node === last) {
    digest = sha([1], step, digest);
    while (node && node % 2 === 0) [node, last] = [node >> 1, last >> 1];
  } else digest = sha([1], digest, step);
  [node, last] = [node >> 1, last >> 1];
}
seen.included = digest.toString("hex") === root && last === 0;
seen.newest = (await verified(evidence.consistency.jws)).protectedHeader.typ;
console.log(JSON.stringify(seen));
