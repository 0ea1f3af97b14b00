import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { readJsonLines } from '../lib/datasets.js'

/** Sets with gold answers. */
export type AnswerSet = 'squad2-dev' | 'cmrc2018-dev-zh'

/** Reads the gold strings of a set, by question id. */
export function readGold(setFolder: string): Map<string, string[]> {
  const records = readJsonLines<{ _id: string; answers: string[] }>(join(setFolder, 'answers.jsonl'))
  return new Map(records.map(({ _id, answers }) => [_id, answers]))
}

/** Whether an answer contains one of the gold strings; compares only letters and digits, in lower case. */
export function containsGold(answer: string, gold: readonly string[]): boolean {
  const comparableAnswer = toComparable(answer)
  return gold.some((one) => comparableAnswer.includes(toComparable(one)))
}

function toComparable(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '')
}

/** Whether a question is in the half that weights are fitted on; the other half is reported. */
export function isForTuning(id: string): boolean {
  return (createHash('sha256').update(id).digest()[0] ?? 0) < 128
}
