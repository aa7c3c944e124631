// jose, unchanged, signs for a backend service: token, search, and refusals; prints what it saw as one JSON object.
import { randomUUID } from "node:crypto";
import { importJWK, SignJWT } from "jose";

const [fhirBase, clientId, algorithm, jwk] = process.argv.slice(2);
const smart = await (await fetch(`${fhirBase}/.well-known/smart-configuration`)).json();
const key = await importJWK(JSON.parse(jwk), algorithm);
const seen = { algorithms: smart.token_endpoint_auth_signing_alg_values_supported };

const signed = ({ audience = smart.token_endpoint, expires = "4 min", kid = "first", jti = randomUUID() } = {}) =>
  new SignJWT()
    .setProtectedHeader({ alg: algorithm, kid, typ: "JWT" })
    .setIssuer(clientId)
    .setSubject(clientId)
    .setAudience(audience)
    .setIssuedAt()
    .setExpirationTime(expires)
    .setJti(jti)
    .sign(key);

const ask = (assertion) =>
  fetch(smart.token_endpoint, {
    method: "POST",
    body: new URLSearchParams({
      grant_type: "client_credentials",
      scope: "system/Patient.rs",
      client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
      client_assertion: assertion,
    }),
  });

const assertion = await signed();
const given = await (await ask(assertion)).json();
seen.granted = [given.token_type, given.scope, given.expires_in];
const headers = { authorization: `Bearer ${given.access_token}` };
const found = await (await fetch(`${fhirBase}/Patient?_count=1&_total=accurate`, { headers })).json();
seen.found = [found.resourceType, found.total];
seen.forbidden = (await fetch(`${fhirBase}/Observation`, { headers })).status;

const refusals = {
  replayed: assertion,
  audience: await signed({ audience: fhirBase }),
  expired: await signed({ expires: "-1 min" }),
  far: await signed({ expires: "1 h" }),
  kid: await signed({ kid: "second" }),
};
seen.refused = {};
for (const [name, text] of Object.entries(refusals)) {
  const answer = await ask(text);
  seen.refused[name] = [answer.status, (await answer.json()).error];
}
console.log(JSON.stringify(seen));
