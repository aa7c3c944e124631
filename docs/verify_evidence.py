"""Check the evidence of a prescription offline: `python verify_evidence.py EVIDENCE.json [KEYS.json]`.

KEYS.json is the platform's published key set, from a source that you trust; without it the keys of the evidence are taken as
they are. Needs Python 3.11 and `pip install pyjwt[crypto] rfc8785`. The format is described in evidence.md.
"""

import hashlib
import json
import sys
from datetime import datetime
from pathlib import Path
from typing import Any

import jwt
import rfc8785


def check(holds: object, what: str) -> None:
    if not holds:
        sys.exit(f"FAILED: {what}")
    print(f"ok: {what}")


def sha(*parts: bytes) -> bytes:
    return hashlib.sha256(b"".join(parts)).digest()


def signed(jws: str, typ: str, keys: Any) -> tuple[bytes, Any]:
    head = jwt.get_unverified_header(jws)
    key = keys[head["kid"]]
    if head.get("typ") != typ or key["jwk"]["kid"] != head["kid"] or head["alg"] != "ES256":
        raise ValueError(f"the header is not that of {typ}")
    return jwt.PyJWS(["ES256"]).decode(jws, jwt.PyJWK(key["jwk"], "ES256").key, algorithms=["ES256"]), key


def fold(node: int, last: int, path: list[bytes], seeds: list[bytes], whole: int) -> list[bytes]:
    """Go up the tree from a node; from `whole` on, seeds take what stands at the right. RFC 9162, 2.1.3.2 and 2.1.4.2."""
    for digest in path:
        if not last:
            raise ValueError("the proof is too long")
        if node % 2 or node == last:
            seeds = [sha(b"\1", digest, one) for one in seeds]
            while node and not node % 2:
                node, last = node // 2, last // 2
        else:
            seeds = [sha(b"\1", one, digest) if n >= whole else one for n, one in enumerate(seeds)]
        node, last = node // 2, last // 2
    if last:
        raise ValueError("the proof is too short")
    return seeds


def check_snapshot(snapshot: Any, keys: Any) -> tuple[Any, Any]:
    text, key = signed(snapshot["jws"], "prescription-snapshot+jws", keys)
    check(text.decode() == snapshot["text"], "the text is what was signed")
    check(sha(text).hex() == snapshot["digest"], "the digest is that of the text")
    document = json.loads(text)
    content = rfc8785.dumps({"schema": document["schema"], "content": document["content"]})
    check(sha(content).hex() == document["seal"]["content_digest"], "the seal is over the content")
    return document, key


def check_chain(chain: list[Any], prescription_id: str) -> dict[int, str]:
    before, hashes = "0" * 64, {0: ""}
    for n, entry in enumerate(chain, 1):
        form = {name: value for name, value in entry.items() if name != "hash"}
        found = sha(bytes.fromhex(before), rfc8785.dumps(form)).hex()
        check(
            (entry["sequence"], entry["prev_hash"], entry["hash"]) == (n, before, found),
            f"entry {n}, {entry['action']}",
        )
        check(entry["prescription_id"] == prescription_id, "the entry is of this prescription")
        before = hashes[n] = found
    return hashes


def check_checkpoint(sealed: Any, keys: Any, hashes: dict[int, str], content: Any) -> tuple[Any, Any]:
    payload, key = signed(sealed["jws"], "audit-checkpoint+jws", keys)
    root, leaf = json.loads(payload), sealed["leaf"]
    check((root["tenant"], leaf["prescription_id"]) == (content["tenant_id"], content["id"]), "the leaf is its own")
    check(hashes.get(leaf["sequence"]) == leaf["hash"], "the leaf is an entry of the history")
    path, size = [bytes.fromhex(one) for one in sealed["path"]], root["size"]
    check(0 <= sealed["position"] < size, "the leaf lies in the tree")
    (found,) = fold(sealed["position"], size - 1, path, [sha(b"\0", rfc8785.dumps(leaf))], 0)
    check(found.hex() == root["root"], f"checkpoint {root['number']} of {root['at']} holds the history")
    return root, key


def check_consistency(newest: Any, keys: Any, root: Any) -> Any:
    payload, key = signed(newest["jws"], "audit-checkpoint+jws", keys)
    last, size = json.loads(payload), root["size"]
    proof, level = [bytes.fromhex(one) for one in newest["proof"]], (size & -size).bit_length() - 1
    start, *rest = [bytes.fromhex(root["root"]), *proof] if size == 1 << level else proof
    found = fold((size - 1) >> level, (last["size"] - 1) >> level, rest, [start, start], 1)
    check([one.hex() for one in found] == [root["root"], last["root"]], f"checkpoint {last['number']} continues it")
    return key


def main(path: str, published: str = "") -> None:
    evidence = json.loads(Path(path).read_text(encoding="utf-8"))
    keys, chain, sealed = evidence["keys"], evidence["chain"], evidence["checkpoint"]
    if published:
        known = {one["kid"]: one for one in json.loads(Path(published).read_text(encoding="utf-8"))["keys"]}
        for kid, key in keys.items():
            check(key["compromised_at"] or known.get(kid) == key["jwk"], f"key {kid} is published")
    document, signer = check_snapshot(evidence["snapshot"], keys)
    hashes = check_chain(chain, document["content"]["id"])
    digests = {e["details"].get("digest"): e["sequence"] for e in chain if e["action"] == "signed"}
    place = digests.get(evidence["snapshot"]["digest"])
    check(place, "the history names the signature")
    root, sealer = check_checkpoint(sealed, keys, hashes, document["content"]) if sealed else (None, None)
    newest = check_consistency(evidence["consistency"], keys, root) if evidence["consistency"] else sealer
    for key in (signer, sealer):  # what a compromised key has signed counts only if a checkpoint sealed it before
        if key and key["compromised_at"]:
            check(root and sealed["leaf"]["sequence"] >= place, "a checkpoint holds the signature")
            at, since = (datetime.fromisoformat(one) for one in (root["at"], key["compromised_at"]))
            check(at < since, "the checkpoint is older than the compromise of the key")
    check(not (newest and newest["compromised_at"]), "the newest checkpoint is by a sound key")
    print(f"{document['content']['number']}: everything holds")


if __name__ == "__main__":
    try:
        main(*sys.argv[1:3])
    except (jwt.InvalidTokenError, KeyError, ValueError, TypeError, OSError) as error:
        sys.exit(f"FAILED: {type(error).__name__}: {error}")
