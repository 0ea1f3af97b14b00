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
export function placeNotes<T extends { type: string; continues?: boolean }>(
  drafts: readonly T[],
  sourceOf: (draft: T) => string,
  read: (draft: T) => Block[],
): Block[] {
  const sources = drafts.map((draft) => (draft.type === 'code' ? '' : sourceOf(draft)))
  const referencedLabels = new Set(sources.flatMap(findReferences))
  const notes = new Map<string, number>()
  for (const [index, source] of sources.entries()) {
    const draft = drafts[index]
    const label = draft?.type === 'paragraph' && draft.continues !== true ? NOTE.exec(source)?.[1] : undefined
    if (label !== undefined && referencedLabels.has(label) && !notes.has(label)) notes.set(label, index)
  }
  const unplaced = new Set(notes.values())
  /** The drafts of the note at an index. */
  const getNoteDrafts = (index: number): T[] => {
    let end = index + 1
    while (drafts[end]?.continues === true) end++
    return drafts.slice(index, end)
  }
  const noteDrafts = new Set([...unplaced].flatMap((index) => getNoteDrafts(index)))
  const blocks: Block[] = []
  const addNote = (index: number): void => {
    for (const block of getNoteDrafts(index).flatMap(read))
      blocks.push({ ...block, metadata: { ...block.metadata, role: 'footnote' } })
  }
  for (const [index, draft] of drafts.entries()) {
    if (noteDrafts.has(draft)) continue
    blocks.push(...read(draft))
    for (const label of findReferences(sources[index] ?? '')) {
      const note = notes.get(label)
      if (note !== undefined && unplaced.delete(note)) addNote(note)
    }
  }
  // Notes that only other notes refer to.
  for (const index of unplaced) addNote(index)
  return blocks
}

function findReferences(source: string): string[] {
  return [...source.matchAll(REFERENCE)].map(([, label = '']) => label)
}
