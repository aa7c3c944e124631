// Judges recorded requests as a receiver would: lines of JSON in, one JSON list of booleans out.
"use strict";
const crypto = require("node:crypto");
const readline = require("node:readline");
const { Webhook } = require("standardwebhooks");

const now = Date.now;

// The library knows no v1a. Node reads a public key of 32 bytes behind this head. Source: RFC 8410.
const HEAD = Buffer.from("302a300506032b6570032100", "hex");

function holdsByPublicKey(text, item) {
  const raw = Buffer.from(text.slice("whpk_".length), "base64");
  const key = crypto.createPublicKey({ key: Buffer.concat([HEAD, raw]), format: "der", type: "spki" });
  const signed = Buffer.concat([
    Buffer.from(`${item.headers["webhook-id"]}.${item.headers["webhook-timestamp"]}.`),
    Buffer.from(item.body, "base64"),
  ]);
  return item.headers["webhook-signature"]
    .split(" ")
    .filter((part) => part.startsWith("v1a,"))
    .some((part) => crypto.verify(null, signed, key, Buffer.from(part.slice("v1a,".length), "base64")));
}

function holds(secret, item) {
  if (secret.startsWith("whpk_")) return holdsByPublicKey(secret, item);
  Date.now = () => item.at * 1000; // the library asks how old a message is, and this one came earlier
  try {
    new Webhook(secret).verify(Buffer.from(item.body, "base64"), item.headers);
    return true;
  } catch {
    return false;
  } finally {
    Date.now = now;
  }
}

const verdicts = [];
readline
  .createInterface({ input: process.stdin })
  .on("line", (line) => {
    const item = JSON.parse(line);
    verdicts.push(item.secrets.some((secret) => holds(secret, item)));
  })
  .on("close", () => process.stdout.write(JSON.stringify(verdicts)));
