import type { Block } from '../parsed.js'

const NOTE = /^\[\^([^\]\s]{1,100})\]:/
const REFERENCE = /\[\^([^\]\s]{1,100})\](?!:)/g

/**
 * The blocks of a document, with each note (`[^1]: words`, and what continues it) after the first reference to it.
 * Notes without a reference stay in place.
 *
 * @param drafts in the order of the document
 * @param sourceOf returns the Markdown of a draft
 * @param read returns the blocks of a draft
 */
export function withNotes<T extends { type: string; continues?: boolean }>(
  drafts: readonly T[],
  sourceOf: (draft: T) => string,
  read: (draft: T) => Block[],
): Block[] {
  const sources = drafts.map((draft) => (draft.type === 'code' ? '' : sourceOf(draft)))
  const referred = new Set(sources.flatMap(referencesIn))
  const notes = new Map<string, number>()
  for (const [place, source] of sources.entries()) {
    const draft = drafts[place]
    const label = draft?.type === 'paragraph' && draft.continues !== true ? NOTE.exec(source)?.[1] : undefined
    if (label !== undefined && referred.has(label) && !notes.has(label)) notes.set(label, place)
  }
  const waiting = new Set(notes.values())
  /** The drafts of the note at an index. */
  const whole = (place: number): T[] => {
    let end = place + 1
    while (drafts[end]?.continues === true) end++
    return drafts.slice(place, end)
  }
  const own = new Set([...waiting].flatMap((place) => whole(place)))
  const placed: Block[] = []
  const addNote = (place: number): void => {
    for (const draft of whole(place)) placed.push(...read(draft).map(asNote))
  }
  for (const [place, draft] of drafts.entries()) {
    if (own.has(draft)) continue
    placed.push(...read(draft))
    for (const label of referencesIn(sources[place] ?? '')) {
      const note = notes.get(label)
      if (note !== undefined && waiting.delete(note)) addNote(note)
    }
  }
  // Notes that only other notes refer to.
  for (const place of waiting) addNote(place)
  return placed
}

function referencesIn(source: string): string[] {
  return [...source.matchAll(REFERENCE)].map(([, label = '']) => label)
}

function asNote(block: Block): Block {
  return { ...block, metadata: { ...block.metadata, role: 'footnote' } }
}
