// fhir-kit-client, unchanged: one visit to the service; prints what it saw as one JSON object.
import { Client } from "fhir-kit-client";

const [baseUrl, bearerToken, family] = process.argv.slice(2);
const client = new Client({ baseUrl, bearerToken });
const seen = {};

const capability = await client.capabilityStatement();
seen.fhirVersion = capability.fhirVersion;
seen.smart = await client.smartAuthMetadata();

const body = (number) => ({
  resourceType: "Patient",
  identifier: [{ system: "urn:example:mrn", value: String(number) }],
  name: [{ family, given: ["Ana"] }],
  gender: "female",
});
const made = await client.create({ resourceType: "Patient", body: body(0) });
const id = made.id;
seen.created = (await client.read({ resourceType: "Patient", id })).meta.versionId;
await client.update({ resourceType: "Patient", id, body: { ...made, birthDate: "1980-02-29" } });
const jsonPatch = [{ op: "replace", path: "/gender", value: "other" }];
await client.patch({ resourceType: "Patient", id, jsonPatch });
const read = await client.read({ resourceType: "Patient", id });
seen.patched = [read.gender, read.birthDate, read.meta.versionId];
seen.first = (await client.vread({ resourceType: "Patient", id, version: "1" })).gender;
seen.history = (await client.history({ resourceType: "Patient", id })).entry.map((entry) => entry.resource.meta.versionId);

const entry = [1, 2, 3, 4].map((number) => ({
  fullUrl: `urn:uuid:00000000-0000-4000-8000-00000000000${number}`,
  resource: body(number),
  request: { method: "POST", url: "Patient" },
}));
const done = await client.transaction({ body: { resourceType: "Bundle", type: "transaction", entry } });
seen.transaction = done.entry.map((one) => one.response.status.slice(0, 3));

let bundle = await client.search({ resourceType: "Patient", searchParams: { family, _count: 2, _sort: "identifier" } });
seen.pages = [];
while (bundle) {
  seen.pages.push(bundle.entry.map((one) => one.resource.identifier[0].value));
  bundle = await client.nextPage({ bundle });
}
const posted = await client.search({ resourceType: "Patient", searchParams: { family }, options: { postSearch: true } });
seen.posted = posted.entry.length;

await client.delete({ resourceType: "Patient", id });
try {
  await client.read({ resourceType: "Patient", id });
} catch (error) {
  seen.gone = error.response.status;
}
console.log(JSON.stringify(seen));
