// The client, driven from Python: a line of JSON in, a line of JSON out.

import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const client = await import(pathToFileURL(process.argv[2]).href);

// Words of 64 bits from the platform, kept so that Python can use the same ones.
function* recorded(kept) {
  for (const word of client.fresh()) {
    kept.push(word.toString());
    yield word;
  }
}

const given = (texts) => texts.map(BigInt)[Symbol.iterator]();

const tasks = {
  // The reports that the given words make.
  vectors({ survey, cases }) {
    const read = client.loadSurvey(survey);
    return cases.map(({ value, words }) => client.perturb(read, value, given(words)));
  },
  // Reports from fresh words, and the words.
  record({ survey, values }) {
    const read = client.loadSurvey(survey);
    return values.map((value) => {
      const words = [];
      return { value, report: client.perturb(read, value, recorded(words)), words };
    });
  },
  // How often each report came.
  draws({ survey, value, count }) {
    const read = client.loadSurvey(survey), counts = new Map(), words = client.fresh();
    for (let i = 0; i < count; i++) {
      const report = JSON.stringify(client.perturb(read, value, words));
      counts.set(report, (counts.get(report) ?? 0) + 1);
    }
    return [...counts];
  },
  // Whole reports, ready to be sent.
  answers: ({ survey, answers }) => {
    const read = client.loadSurvey(survey);
    return answers.map((answer) => client.answer(read, answer));
  },
  values: ({ survey, answers }) => {
    const read = client.loadSurvey(survey);
    return answers.map((answer) => client.valueOf(read, answer));
  },
  // A device that is asked again and again, its memory written and read in between.
  device({ survey, steps, memory }) {
    const read = client.loadSurvey(survey);
    let device = new client.Device(read, memory ?? null);
    const reports = steps.map(({ value, words }) => {
      device = new client.Device(read, JSON.parse(JSON.stringify(device)));
      return device.step(value, given(words));
    });
    return { reports, memory: device.toJSON(), exhausted: device.exhausted };
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const { task, ...options } = JSON.parse(line);
  let reply;
  try {
    reply = { result: tasks[task](options) };
  } catch (error) {
    reply = { error: error.name, message: error.message };
  }
  process.stdout.write(JSON.stringify(reply) + "\n");
}
