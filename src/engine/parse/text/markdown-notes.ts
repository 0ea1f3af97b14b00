import type { Block } from '../parsed.js'

const NOTE = /^\[\^([^\]\s]{1,100})\]:/
const REFERENCE = /\[\^([^\]\s]{1,100})\](?!:)/g

/**
 * The blocks of a document, each note (`[^1]: words`) behind what refers to it first. Notes that nothing refers to stay where
 * they are.
 *
 * @param drafts in their order
 * @param sourceOf the Markdown of one
 * @param read the blocks of one
 */
export function withNotes<T extends { type: string }>(
  drafts: readonly T[],
  sourceOf: (draft: T) => string,
  read: (draft: T) => Block[],
): Block[] {
  const sources = drafts.map((draft) => (draft.type === 'code' ? '' : sourceOf(draft)))
  const referred = new Set(sources.flatMap(referencesIn))
  const notes = new Map<string, number>()
  for (const [place, source] of sources.entries()) {
    const label = drafts[place]?.type === 'paragraph' ? NOTE.exec(source)?.[1] : undefined
    if (label !== undefined && referred.has(label) && !notes.has(label)) notes.set(label, place)
  }
  const own = new Set(notes.values())
  const waiting = new Set(own)
  const placed: Block[] = []
  const add = (place: number, isNote: boolean): void => {
    const draft = drafts[place]
    if (draft === undefined) return
    const blocks = read(draft)
    placed.push(...(isNote ? blocks.map(asNote) : blocks))
  }
  for (const [place, source] of sources.entries()) {
    if (own.has(place)) continue
    add(place, false)
    for (const label of referencesIn(source)) {
      const note = notes.get(label)
      if (note !== undefined && waiting.delete(note)) add(note, true)
    }
  }
  // those that only other notes refer to
  for (const place of waiting) add(place, true)
  return placed
}

function referencesIn(source: string): string[] {
  return [...source.matchAll(REFERENCE)].map(([, label = '']) => label)
}

function asNote(block: Block): Block {
  return { ...block, metadata: { ...block.metadata, role: 'footnote' } }
}
