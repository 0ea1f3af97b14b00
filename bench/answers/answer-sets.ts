import { createHash } from 'node:crypto'

/** Sets with gold answers. */
export type AnswerSet = 'squad2-dev' | 'cmrc2018-dev-zh'

/** Gold strings by question id, of an `answers.jsonl`. */
export function goldOf(lines: string): Map<string, string[]> {
  const records = lines
    .split('\n')
    .flatMap((line): { _id: string; answers: string[] }[] => (line === '' ? [] : [JSON.parse(line)]))
  return new Map(records.map(({ _id, answers }) => [_id, answers]))
}

/** Whether an answer contains one of the gold strings: letters and digits alone, small. */
export function holdsGold(answer: string, gold: readonly string[]): boolean {
  const told = plain(answer)
  return gold.some((one) => told.includes(plain(one)))
}

function plain(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '')
}

/** Whether a question is in the half that weights are fitted on; the other half is reported. */
export function isForTuning(id: string): boolean {
  return (createHash('sha256').update(id).digest()[0] ?? 0) < 128
}
