import type { UploadFile } from './upload.js'
import { createRandom, drawWord, makeProse, makeQuery } from './words.js'

/** Passages, questions with words from them, and files of the passages; the same on every machine. */
export interface Corpus {
  passages: { title: string; text: string }[]
  queries: string[]
  /** created one at a time, so that a million passages are not in memory twice */
  files(): Iterable<UploadFile>
}

const SEED = 100_000
const SECTIONS_PER_FILE = 20
/** about 95 words, like a passage of documentation; a section this long is one node */
const SECTION_CHARACTERS = 600
const QUERIES = 1000

export function makeCorpus(count: number, seed = SEED): Corpus {
  const random = createRandom(seed)
  const texts = Array.from({ length: count }, () => makeProse(random, SECTION_CHARACTERS))
  const queries = Array.from({ length: QUERIES }, () => makeQuery(random, texts[Math.floor(random() * count)]!))
  const titles: string[] = []
  const passages = texts.map((text, index) => {
    const sectionNumber = index % SECTIONS_PER_FILE
    const title = `${drawWord(random)} ${sectionNumber}`
    // draws a file's title with its last section
    if (sectionNumber === SECTIONS_PER_FILE - 1 || index === count - 1)
      titles.push(`${drawWord(random)} ${titles.length}`)
    return { title, text }
  })
  function* files() {
    for (const [index, title] of titles.entries()) {
      const sections = passages.slice(index * SECTIONS_PER_FILE, (index + 1) * SECTIONS_PER_FILE)
      const body = sections.map((section) => `## ${section.title}\n\n${section.text}\n`)
      yield { filename: `file-${index}.md`, text: `# ${title}\n\n${body.join('\n')}` }
    }
  }
  return { passages, queries, files }
}

/** @param characters length of a note with its title */
export function makeNotes(count: number, seed: number, characters = SECTION_CHARACTERS): UploadFile[] {
  const random = createRandom(seed)
  return Array.from({ length: count }, (_, index) => {
    const title = `# ${drawWord(random)} ${drawWord(random)} ${index}\n\n`
    return { filename: `note-${index}.md`, text: title + makeProse(random, characters - title.length) }
  })
}
