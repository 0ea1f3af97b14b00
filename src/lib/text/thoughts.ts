import { ThoughtSeparator } from './thinking.js'

/** If the prompt template has opened the thought, the text only closes it, on a separate line. */
const CLOSED_ONLY = /^[\s\S]*?(?:^|\n)[ \t]*<\/think>[ \t]*(?:\n|$)/

/** Removes the thoughts from a model's text, also if the start or the end of a thought is missing. */
export function stripThoughts(text: string): string {
  if (!/<\/?think>/.test(text)) return text.trim()
  const separator = new ThoughtSeparator()
  const output = separator.add(text) + separator.end()
  const isOpened = output.length < text.trimStart().length
  return (isOpened ? output : output.replace(CLOSED_ONLY, '')).trim()
}

/** Whether a text of a model has content: a letter or a digit outside of thoughts and citation marks. */
export function hasAnswerText(text: string): boolean {
  return /[\p{L}\p{N}]/u.test(stripThoughts(text).replace(/\[\d{0,3}\]?/g, ''))
}
