/**
 * The device's side of a Discreet survey: randomize an answer before it leaves the device.
 *
 * For browsers and Node (20 or later), without dependencies. Randomness comes from the platform's
 * cryptographic generator. Every probability in a survey is a whole number of 2^-64ths, so a report
 * is an exact function of the answer and of some random words of 64 bits: the same function that
 * Discreet computes in Python, word for word.
 *
 *   import { loadSurvey, answer } from "./discreet-local.mjs";
 *   const survey = loadSurvey(await (await fetch("survey.json")).json());
 *   await fetch("reports", { method: "POST", body: JSON.stringify(answer(survey, "yes")) });
 */

const VERSION = 1;
const FULL = 1n << 64n;
const DIGIT = 1n << 30n;
const YES = 0, NO = 1;

/** What is wrong with a survey or an answer; `hint` says what to try. */
export class SurveyError extends Error {
  constructor(message, hint) {
    super(`${message}\n\nHint: ${hint}`);
    this.name = "SurveyError";
    this.hint = hint;
  }
}

// Random words ------------------------------------------------------------------------------------

/** Random words of 64 bits, without end, from the platform's cryptographic generator. */
export function* fresh() {
  const buffer = new BigUint64Array(16);
  for (;;) {
    globalThis.crypto.getRandomValues(buffer);
    yield* buffer;
  }
}

const next = (words) => {
  const { value, done } = words.next();
  if (done) throw new SurveyError("there are no more random words.", "pass fresh().");
  return value;
};

/** A whole number below n, all equally likely; words that would favour some are thrown away. */
function below(n, words) {
  const limit = BigInt(n);
  const fair = FULL - (FULL % limit);
  for (;;) {
    const word = next(words);
    if (word < fair) return word % limit;
  }
}

// Reading a survey --------------------------------------------------------------------------------

/** The number of 2^-64ths in "p/q", which must be whole and within (0, 1). */
function share(text) {
  const [, top, bottom] = /^([0-9]+)\/([0-9]+)$/.exec(text) ?? [];
  if (bottom === undefined) throw new SurveyError(`"${text}" is not a probability.`, '"1/4"');
  const scaled = BigInt(top) * FULL, divisor = BigInt(bottom);
  const part = divisor === 0n ? 0n : scaled / divisor;
  if (divisor === 0n || scaled % divisor !== 0n || part <= 0n || part >= FULL)
    throw new SurveyError(`"${text}" is not a whole number of 2^-64ths.`, '"1/4"');
  return part;
}

function rational(text) {
  const match = /^(-?[0-9]+)\/([0-9]+)$/.exec(text);
  if (!match) throw new SurveyError(`"${text}" is not a rational number.`, '"1/2"');
  return Number(match[1]) / Number(match[2]);
}

/** An epsilon: "p/q", or "ln x" for a rational x. */
function loss(text) {
  const match = /^ln ([0-9]+)(?:\/([0-9]+))?$/.exec(text);
  return match ? Math.log(Number(match[1]) / Number(match[2] ?? 1)) : rational(text);
}

const SHARES = {
  two_coins: ["tails"], kary: ["lie"], unary: ["kept", "false"], subset: ["held"],
  hashing: ["lie"], hadamard: ["lie"], one_bit: ["least", "step"], piecewise: ["inside"],
};
const WHOLE = {
  two_coins: [], kary: ["size"], unary: ["size"], subset: ["size", "chosen"],
  hashing: ["size", "buckets", "prime", "digits"], hadamard: ["size", "blocks"],
  one_bit: ["size"], piecewise: ["size", "stride", "window"],
};

function readRandomizer(data) {
  const kind = data?.kind;
  if (kind === "memoized") {
    const permanent = readRandomizer(data.permanent);
    const instantaneous = readRandomizer(data.instantaneous);
    const kinds = [permanent.kind, instantaneous.kind];
    const fits = (kinds[0] === "kary" || kinds[0] === "unary") && kinds[0] === kinds[1];
    if (!fits || permanent.size !== instantaneous.size || !(data.most_values >= 1))
      throw new SurveyError("the two parts of the memoized response do not fit.", "design anew.");
    return {
      kind, size: permanent.size, permanent, instantaneous, most_values: data.most_values,
    };
  }
  if (!Object.hasOwn(SHARES, kind ?? ""))
    throw new SurveyError(`no randomizer "${kind}" is known here.`, "use a newer client.");
  const read = { kind, size: 2 };
  for (const name of WHOLE[kind]) {
    if (!Number.isSafeInteger(data[name]) || data[name] < 1)
      throw new SurveyError(`${name} is not a whole number.`, "design the survey anew.");
    read[name] = data[name];
  }
  for (const name of SHARES[kind]) read[name] = share(data[name]);
  if (kind === "hadamard") {
    const rows = Math.ceil(read.size / read.blocks);
    read.width = 2 ** (Math.floor(Math.log2(rows)) + 1);
  }
  return read;
}

/** How many times likelier one answer can make a report than another, from the stored shares. */
function ratio(r) {
  const over = (a, b) => Number(a) / Number(b);
  switch (r.kind) {
    case "two_coins": return 3;
    case "kary": return over(FULL - BigInt(r.size - 1) * r.lie, r.lie);
    case "hashing": return over(FULL - BigInt(r.buckets - 1) * r.lie, r.lie);
    case "hadamard": return over(FULL - BigInt(2 * r.blocks - 1) * r.lie, r.lie);
    case "unary": return over(r.kept * (FULL - r.false), r.false * (FULL - r.kept));
    case "subset":
      return over(r.held * BigInt(r.size - r.chosen), (FULL - r.held) * BigInt(r.chosen));
    case "one_bit":
      // Only a line from `least` to its complement has its worst ratio at the ends.
      return 2n * r.least + BigInt(r.size - 1) * r.step === FULL
        ? over(FULL - r.least, r.least) : Infinity;
    case "piecewise":
      return over(r.inside * BigInt(r.stride * (r.size - 1)), (FULL - r.inside) * BigInt(r.window));
    case "memoized": return ratio(r.permanent);
  }
}

/**
 * A survey, checked. The device does not take the collector's word: probabilities that lose more
 * than the epsilon declared are refused.
 */
export function loadSurvey(data) {
  if (data?.discreet !== "survey" || data.version !== VERSION)
    throw new SurveyError("this is not a survey of version 1.", "take it from its publisher.");
  const randomizer = readRandomizer(data.randomizer);
  const epsilon = loss(data.epsilon);
  const lost = Math.log(ratio(randomizer));
  if (!(epsilon > 0 && lost > 0 && lost <= epsilon * (1 + 1e-12) + 1e-15))
    throw new SurveyError(
      "the survey's probabilities lose more than the epsilon it declares.", "do not answer it.");
  const scale = data.scale && {
    low: rational(data.scale.low), high: rational(data.scale.high), step: rational(data.scale.step),
  };
  const many = scale ? Math.round((scale.high - scale.low) / scale.step) + 1 : data.options?.length;
  if (many !== randomizer.size)
    throw new SurveyError("the answers do not fit the randomizer.", "take it from its publisher.");
  return Object.freeze({
    id: String(data.id), question: String(data.question), options: data.options, scale, epsilon,
    randomizer: Object.freeze(randomizer),
  });
}

/** The number of an answer: of an option, or of the nearest point on the scale. */
export function valueOf(survey, given) {
  if (survey.scale) {
    const { low, step } = survey.scale;
    const point = Math.floor((Number(given) - low) / step + 0.5);
    if (!Number.isFinite(point)) throw new SurveyError("the answer is not a number.", "0");
    return Math.min(Math.max(point, 0), survey.randomizer.size - 1);
  }
  const place = survey.options.indexOf(given);
  if (place < 0)
    throw new SurveyError("the answer is not one of the options.", survey.options.join(", "));
  return place;
}

// Randomizing -------------------------------------------------------------------------------------

/** k-ary response from one word: word / lie is the number of a lie, or too large for one. */
function turn(value, size, lie, word) {
  const other = word / lie;
  if (other >= BigInt(size - 1)) return value;
  return Number(other) + (Number(other) >= value ? 1 : 0);
}

const parity = (number) => {
  let odd = 0;
  for (let rest = BigInt(number); rest; rest &= rest - 1n) odd ^= 1;
  return odd;
};

/** Bits in hexadecimal, eight to a byte, the first option in the lowest bit. */
function hexadecimal(options, size) {
  const bytes = new Uint8Array(Math.ceil(size / 8));
  for (const option of options) bytes[option >> 3] |= 1 << (option & 7);
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function bitsOf(text, size) {
  const options = [];
  for (let option = 0; option < size; option++) {
    const byte = parseInt(text.slice(2 * (option >> 3), 2 * (option >> 3) + 2), 16);
    if ((byte >> (option & 7)) & 1) options.push(option);
  }
  return options;
}

const RANDOMIZERS = {
  two_coins(r, value, words) {
    const word = next(words);
    if (word & 1n) return value;
    return word & 2n ? YES : NO;
  },

  kary: (r, value, words) => turn(value, r.size, r.lie, next(words)),

  unary: (r, value, words) => flip(r, new Set([value]), words),

  subset(r, value, words) {
    const held = next(words) < r.held;
    const others = r.size - 1, many = r.chosen - (held ? 1 : 0);
    const taken = new Set();
    for (let last = others - many; last < others; last++) {
      const drawn = Number(below(last + 1, words));
      taken.add(taken.has(drawn) ? last : drawn);
    }
    const options = Array.from(taken, (other) => other + (other >= value ? 1 : 0));
    if (held) options.push(value);
    return hexadecimal(options, r.size);
  },

  hashing(r, value, words) {
    const prime = BigInt(r.prime), coefficients = [];
    for (let i = 0; i <= r.digits; i++) coefficients.push(below(prime, words));
    let total = coefficients[r.digits], rest = BigInt(value);
    for (let i = 0; i < r.digits; i++) {
      total += coefficients[i] * (rest % DIGIT);
      rest /= DIGIT;
    }
    const bucket = Number(((total % prime) * BigInt(r.buckets)) / prime);
    return [...coefficients.map(Number), turn(bucket, r.buckets, r.lie, next(words))];
  },

  hadamard(r, value, words) {
    const block = value % r.blocks, row = BigInt(Math.floor(value / r.blocks) + 1);
    const half = turn(2 * block, 2 * r.blocks, r.lie, next(words));
    let column = next(words) & BigInt(r.width - 1);
    if (parity(column & row) !== (half & 1)) column ^= row & -row;
    return Math.floor(half / 2) * r.width + Number(column);
  },

  one_bit: (r, value, words) => (next(words) < r.least + BigInt(value) * r.step ? 1 : 0),

  piecewise(r, value, words) {
    const start = value * r.stride;
    if (next(words) < r.inside) return start + Number(below(r.window, words));
    const place = Number(below(r.stride * (r.size - 1), words));
    return place < start ? place : place + r.window;
  },

  memoized: (r, value, words) =>
    again(r, RANDOMIZERS[r.permanent.kind](r.permanent, value, words), words),
};

/** Unary encoding of a set of bits: each is set when its word lies below its share. */
function flip(r, set, words) {
  const options = [];
  for (let option = 0; option < r.size; option++)
    if (next(words) < (set.has(option) ? r.kept : r.false)) options.push(option);
  return hexadecimal(options, r.size);
}

/** One more report from a permanent answer. */
function again(r, permanent, words) {
  const part = r.instantaneous;
  if (part.kind === "kary") return turn(permanent, part.size, part.lie, next(words));
  return flip(part, new Set(bitsOf(permanent, part.size)), words);
}

/** The report, as JSON has it, that these words make of the value with this number. */
export function perturb(survey, value, words) {
  if (!Number.isInteger(value) || value < 0 || value >= survey.randomizer.size)
    throw new SurveyError("there is no answer with this number.", "valueOf(survey, answer)");
  return RANDOMIZERS[survey.randomizer.kind](survey.randomizer, value, words);
}

function wrap(survey, report) {
  const name = globalThis.crypto.getRandomValues(new Uint8Array(16));
  const id = Array.from(name, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return { v: VERSION, survey: survey.id, id, report };
}

/** One report, ready to be sent. */
export function answer(survey, given) {
  if (survey.randomizer.kind === "memoized")
    throw new SurveyError(
      "this question is asked again and again: a device must remember.", "use new Device(survey).");
  return wrap(survey, perturb(survey, valueOf(survey, given), fresh()));
}

// Asked again and again ---------------------------------------------------------------------------

/**
 * A device that remembers its permanent answers, for memoized surveys. It never draws more than the
 * survey's `most_values` of them; beyond that it answers for the last value it could afford.
 *
 *   const device = new Device(survey, JSON.parse(localStorage.getItem(survey.id)));
 *   const report = device.answer("yes");
 *   localStorage.setItem(survey.id, JSON.stringify(device));
 */
export class Device {
  #answers = new Map();
  #current = 0;

  constructor(survey, memory = null) {
    if (survey.randomizer.kind !== "memoized")
      throw new SurveyError("this survey is answered once.", "use answer(survey, ...).");
    this.survey = survey;
    if (memory === null) return;
    const { permanent, most_values: most } = survey.randomizer;
    const good = memory.version === 1 && Array.isArray(memory.answers)
      && memory.answers.length <= most
      && memory.answers.every(([value, written]) =>
        Number.isInteger(value) && value >= 0 && value < permanent.size
        && (permanent.kind === "kary"
          ? Number.isInteger(written) && written >= 0 && written < permanent.size
          : typeof written === "string" && written.length === 2 * Math.ceil(permanent.size / 8)));
    if (!good) throw new SurveyError("this is not the device's memory.", "give back what it wrote.");
    this.#answers = new Map(memory.answers);
    this.#current = memory.current;
  }

  get exhausted() {
    return this.#answers.size >= this.survey.randomizer.most_values;
  }

  /** The report that these words make. */
  step(value, words) {
    const r = this.survey.randomizer;
    if (!this.#answers.has(value) && !this.exhausted)
      this.#answers.set(value, RANDOMIZERS[r.permanent.kind](r.permanent, value, words));
    if (this.#answers.has(value)) this.#current = value;
    return again(r, this.#answers.get(this.#current), words);
  }

  /** One report, ready to be sent. */
  answer(given) {
    return wrap(this.survey, this.step(valueOf(this.survey, given), fresh()));
  }

  toJSON() {
    return { version: 1, answers: [...this.#answers], current: this.#current };
  }
}
