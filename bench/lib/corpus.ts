import type { UploadFile } from './upload.js'
import { numbers, prose, queryFrom, zipfWord } from './words.js'

/** Passages of a space, questions that their words answer, and the files that hold them; the same on every machine. */
export interface Corpus {
  passages: { title: string; text: string }[]
  queries: string[]
  /** made one at a time: a million passages are not held twice */
  files(): Iterable<UploadFile>
}

const SEED = 100_000
const SECTIONS_A_FILE = 20
/** about 95 words, as a passage of documentation has; a section this long is one node */
const SECTION_CHARACTERS = 600
const QUERIES = 1000

export function makeCorpus(count: number, seed = SEED): Corpus {
  const random = numbers(seed)
  const texts = Array.from({ length: count }, () => prose(random, SECTION_CHARACTERS))
  const queries = Array.from({ length: QUERIES }, () => queryFrom(random, texts[Math.floor(random() * count)]!))
  const titles: string[] = []
  const passages = texts.map((text, place) => {
    const number = place % SECTIONS_A_FILE
    const title = `${zipfWord(random)} ${number}`
    // a file's title is drawn when its last section is
    if (number === SECTIONS_A_FILE - 1 || place === count - 1) titles.push(`${zipfWord(random)} ${titles.length}`)
    return { title, text }
  })
  function* files() {
    for (const [place, title] of titles.entries()) {
      const inside = passages.slice(place * SECTIONS_A_FILE, (place + 1) * SECTIONS_A_FILE)
      const body = inside.map((section) => `## ${section.title}\n\n${section.text}\n`)
      yield { filename: `file-${place}.md`, text: `# ${title}\n\n${body.join('\n')}` }
    }
  }
  return { passages, queries, files }
}

/** Short notes, each with a title of its own. @param characters of a note, its title among them */
export function makeNotes(count: number, seed: number, characters = SECTION_CHARACTERS): UploadFile[] {
  const random = numbers(seed)
  return Array.from({ length: count }, (_, place) => {
    const title = `# ${zipfWord(random)} ${zipfWord(random)} ${place}\n\n`
    return { filename: `note-${place}.md`, text: title + prose(random, characters - title.length) }
  })
}
