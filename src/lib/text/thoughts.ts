import { Thinking } from './thinking.js'

/** where the template of a prompt has opened the thought, the answer only closes it, on a line of its own */
const CLOSED_ONLY = /^[\s\S]*?(?:^|\n)[ \t]*<\/think>[ \t]*(?:\n|$)/

/** A model's text without what it thinks aloud, also where the beginning or the end of its thought is missing. */
export function withoutThoughts(text: string): string {
  if (!/<\/?think>/.test(text)) return text.trim()
  const thinking = new Thinking()
  const said = thinking.add(text) + thinking.end()
  const isOpened = said.length < text.trimStart().length
  return (isOpened ? said : said.replace(CLOSED_ONLY, '')).trim()
}

/** Whether a text of a model says anything: a letter or a digit outside of thoughts and marks of passages. */
export function hasAnswerText(text: string): boolean {
  return /[\p{L}\p{N}]/u.test(withoutThoughts(text).replace(/\[\d{0,3}\]?/g, ''))
}
