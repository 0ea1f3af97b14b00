import { RE2JS, RE2JSException } from 're2js'
import { KsError } from '../../../contract/errors.js'
import type { Text } from '../../../lib/text/long-text.js'
import { findWholeWords, isWholeWord, toWholeWordExpression } from '../../../lib/text/whole-word.js'
import { estimatePatternSize } from './pattern-size.js'
import { splitWindows } from './windows.js'

/** UTF-16 offsets of a match. */
export interface PatternMatch {
  start: number
  end: number
}

export interface SearchPiece {
  matches: PatternMatch[]
  /** the search continues at this offset */
  reached: number
}

/** A compiled search. It runs in pieces, so that the caller can check the clock between them. */
export interface SearchPattern {
  /** Finds matches that start at `from` or later, in order; each piece takes at most some milliseconds. */
  search(text: Text, from: number): Iterable<SearchPiece>
  /** UTF-16 units of text that `mayMatch` and `find` search in some milliseconds. */
  windowSize: number
  /** Whether a text may contain a match; much faster than `find`. */
  mayMatch(text: string): boolean
  /** All matches in a short text, empty ones too. */
  find(text: string): PatternMatch[]
}

const PREFIX = 're:'
/** UTF-16 units of text that a literal is searched in at once: about a millisecond */
const LITERAL_WINDOW = 256 * 1024
/** larger programs take more than 20 ms for the smallest window (25 ns per instruction and character, measured) */
const MAX_PROGRAM = 1000
/** characters × instructions of one window, about 10 ms at 25 ns */
const WINDOW_WORK = 400_000
const MIN_WINDOW = 1024
const MAX_WINDOW = 16 * 1024

/**
 * Compiles a literal, or with the prefix `re:` a regular expression of the RE2 syntax, which takes linear time on any
 * text. A literal without an upper-case letter matches in any case. An expression is case-sensitive unless it has
 * `(?i)`; `^` and `$` match at line ends, and a match never spans more than a few thousand characters. With
 * `wholeWords`, `find` and `mayMatch` skip matches that have a letter, digit or underscore next to them.
 *
 * @throws KsError `invalid-request` for an expression that is malformed or too large
 */
export function compileSearchPattern(q: string, options: PatternOptions = {}): SearchPattern {
  if (!q.startsWith(PREFIX)) return createLiteralPattern(q, options)
  const source = q.slice(PREFIX.length)
  if (source === '') throw new KsError('invalid-request', 'q must contain an expression after "re:", received none')
  return createExpressionPattern(source, options)
}

type PatternOptions = { wholeWords?: boolean }

function createLiteralPattern(q: string, options: PatternOptions): SearchPattern {
  const exact = /\p{Lu}/u.test(q)
  const needle = exact ? q : fold(q)
  return {
    windowSize: LITERAL_WINDOW,
    mayMatch: (text) => (exact ? text : fold(text)).includes(needle),
    find: (text) => [...findAll(exact ? text : fold(text), needle, options)],
    *search(text, from) {
      for (let start = from; start < text.length; ) {
        const limit = start + LITERAL_WINDOW
        const slice = text.slice(start, limit + needle.length - 1)
        const hay = exact ? slice : fold(slice)
        const matches: PatternMatch[] = []
        let offset = hay.indexOf(needle)
        for (; offset !== -1 && offset < LITERAL_WINDOW; offset = hay.indexOf(needle, offset + needle.length))
          matches.push({ start: start + offset, end: start + offset + needle.length })
        start = Math.min(text.length, Math.max(limit, matches[matches.length - 1]?.end ?? 0))
        yield { matches, reached: start }
      }
    },
  }
}

function* findAll(hay: string, needle: string, { wholeWords = false }: PatternOptions): Generator<PatternMatch> {
  for (let start = hay.indexOf(needle); start !== -1; ) {
    const match = { start, end: start + needle.length }
    const isMatch = !wholeWords || isWholeWord(hay, match)
    if (isMatch) yield match
    start = hay.indexOf(needle, isMatch ? match.end : start + 1)
  }
}

/** Lower case without changing the length: `İ` alone would grow, and a final sigma would depend on its context. */
function fold(text: string): string {
  return text.replaceAll('\u0130', 'i').toLowerCase().replaceAll('ς', 'σ')
}

function createExpressionPattern(source: string, { wholeWords = false }: PatternOptions): SearchPattern {
  const compiled = compileExpression(source)
  const wholeWordExpression = wholeWords ? RE2JS.compile(toWholeWordExpression(source), RE2JS.MULTILINE) : undefined
  const window = Math.min(MAX_WINDOW, Math.max(MIN_WINDOW, Math.floor(WINDOW_WORK / compiled.programSize())))
  return {
    windowSize: window,
    mayMatch: (text) => (wholeWordExpression ?? compiled).test(text),
    find: (text) => {
      if (wholeWordExpression !== undefined) return [...findWholeWords(wholeWordExpression.matcher(text), text.length)]
      const matches: PatternMatch[] = []
      const matcher = compiled.matcher(text)
      while (matcher.find()) matches.push({ start: matcher.start(), end: matcher.end() })
      return matches
    },
    *search(text, from) {
      let last = from
      for (const { start, firstMatch, limit, end } of splitWindows(text, from, window)) {
        const slice = text.slice(start, end)
        const matches: PatternMatch[] = []
        // many times faster than finding the positions of matches
        if (compiled.test(slice)) {
          const matcher = compiled.matcher(slice)
          for (let more = matcher.find(Math.max(firstMatch, last) - start); more; more = matcher.find()) {
            const match = { start: start + matcher.start(), end: start + matcher.end() }
            if (match.start >= limit) break
            if (match.end > match.start) matches.push(match)
          }
        }
        last = matches[matches.length - 1]?.end ?? last
        yield { matches, reached: Math.max(limit, last) }
      }
    },
  }
}

function compileExpression(source: string): RE2JS {
  const size = estimatePatternSize(source)
  if (size > MAX_PROGRAM) throw tooLargeError(size)
  try {
    const compiled = RE2JS.compile(source, RE2JS.MULTILINE)
    // repeats may double the size that their text suggests
    if (compiled.programSize() > 3 * MAX_PROGRAM) throw tooLargeError(compiled.programSize())
    return compiled
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error
    throw new KsError('invalid-request', `q is not an expression of the RE2 syntax: ${error.message}`, { cause: error })
  }
}

function tooLargeError(size: number): KsError {
  return new KsError(
    'invalid-request',
    `q must be an expression of at most ${MAX_PROGRAM} steps with its repeats expanded, received ${size}`,
  )
}
