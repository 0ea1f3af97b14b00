import type { Dataset } from './datasets.js'

/** A question that no document answers alone: one says what it is about, another answers it. */
export interface TwoHopQuestion {
  text: string
  /** the document that names the bridge, and the one that the question was asked of */
  documents: readonly [clue: string, answer: string]
}

/** The bridge stands in this many documents beside the one that answers: rarer than a subject, or the clue is no clue. */
const MOST_OTHERS = 5
/** Words of the clue on each side of the bridge. */
const CLUE_WORDS = 12
/** A shorter clue names nothing. */
const LEAST_CLUE_WORDS = 6
const NAME = /(?<=[\p{L}\p{N},] )\p{Lu}[\p{L}\p{N}’'-]{2,}(?: \p{Lu}[\p{L}\p{N}’'-]*)*/gu

/**
 * Two-hop questions made of a set's own ones, always the same: a name in a question that few other documents hold is
 * taken out, and a line of one of those, without the name, says what is meant. So both documents are needed, and the
 * name that joins them stands in neither part of the question.
 */
export function twoHopQuestions({ documents, queries, judged }: Dataset): TwoHopQuestion[] {
  const made: TwoHopQuestion[] = []
  const used = new Set<string>()
  for (const { id, text } of queries) {
    const [answer] = judged.get(id)?.keys() ?? []
    const target = documents.find((document) => document.id === answer)
    if (target === undefined) continue
    for (const [name] of text.matchAll(NAME)) {
      const others = documents.filter((other) => other.id !== target.id && has(other.text, name))
      if (others.length === 0 || others.length > MOST_OTHERS || !has(target.text, name)) continue
      const clue = others.find((other) => other.title !== target.title) ?? others[0]
      const line = clue === undefined ? undefined : clueOf(clue.text, name)
      const key = `${clue?.id}/${target.id}`
      if (clue === undefined || line === undefined || used.has(key)) continue
      used.add(key)
      made.push({
        text: `Which one is meant in “${line}”? ${text.replaceAll(name, 'that one')}`,
        documents: [clue.id, target.id],
      })
      break
    }
  }
  return made
}

/** Whether a text holds a name, and not as a part of a longer one. */
function has(text: string, name: string): boolean {
  const at = text.indexOf(name)
  return (
    at >= 0 &&
    !/(?:\p{L}|\p{Lu}[\p{L}’'-]* )$/u.test(text.slice(0, at)) &&
    !/^(?:\p{L}| \p{Lu})/u.test(text.slice(at + name.length))
  )
}

/** The words around a name, with a blank in its place. */
function clueOf(text: string, name: string): string | undefined {
  const at = text.indexOf(name)
  const before =
    text
      .slice(0, at)
      .split(/(?<=[.!?]) /)
      .at(-1)
      ?.trim()
      .split(/\s+/)
      .slice(-CLUE_WORDS) ?? []
  const after =
    text
      .slice(at + name.length)
      .split(/(?<=[.!?]) /)[0]
      ?.trim()
      .split(/\s+/)
      .slice(0, CLUE_WORDS) ?? []
  if (before.length + after.length < LEAST_CLUE_WORDS || after.join(' ').includes(name)) return undefined
  return [...before, '…', ...after].join(' ').replaceAll(name, '…').replace(/[“”"]/g, '')
}
