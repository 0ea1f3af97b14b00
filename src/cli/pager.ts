import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Writable } from 'node:stream'
import { EXIT } from '../contract/errors.js'
import { type Env, getEnvValue, isEnvOn } from './environment.js'
import { ttyStyled } from './terminal.js'
import { writeErr, writeTo } from './terminal-writer.js'

/** Options of `less`, as in `git`: quit if one screen suffices, show colours, keep the text on the screen. */
const LESS_OPTIONS = 'FRX'
const COLOUR_SEQUENCE = /\u001b\[[\d;]*m/g
/** Exit codes of the shell for a program that does not exist or is not executable. */
const NOT_STARTED_CODES = new Set([126, 127])

/** The shell command of the pager, as in `git`, or undefined for none. */
export function findPager(env: Env): string | undefined {
  if (isEnvOn(env, 'CI') || env.TERM === 'dumb') return undefined
  const configured = env.KS_PAGER ?? getEnvValue(env, 'PAGER')
  if (configured === undefined) return 'if command -v less > /dev/null; then exec less; else exec cat; fi'
  return configured.trim() === '' || configured.trim() === 'cat' ? undefined : configured
}

/** Output to a terminal that starts a pager once it is longer than the screen. */
export class PagedOutput {
  readonly isTTY = true
  readonly #program: string
  readonly #stdout: NodeJS.WriteStream
  #text: string[] = []
  #lineCount = 0
  #notes: string[] = []
  #pager: (ChildProcess & { stdin: Writable }) | undefined
  #ended: Promise<unknown[]> | undefined

  constructor(program: string, stdout: NodeJS.WriteStream) {
    this.#program = program
    this.#stdout = stdout
  }

  get columns(): number {
    return this.#stdout.columns
  }

  write(rawText: string): boolean {
    const text = ttyStyled(rawText)
    this.#text.push(text)
    if (this.#pager !== undefined) return this.#pager.stdin.write(text)
    for (const line of text.split('\n').slice(0, -1))
      this.#lineCount += Math.max(1, Math.ceil(line.replace(COLOUR_SEQUENCE, '').length / Math.max(1, this.columns)))
    // One line is left for the shell's prompt.
    if (this.#lineCount >= this.#stdout.rows) this.#start()
    return true
  }

  /** Stores a note for stderr that is printed after the output. */
  deferNote(text: string): boolean {
    this.#notes.push(text)
    return true
  }

  /** Resolves when the pager has exited. */
  async end(): Promise<void> {
    if (this.#pager === undefined) writeTo(this.#stdout, this.#text.join(''))
    else {
      this.#pager.stdin.end()
      const [code] = (await this.#ended?.catch(() => [EXIT.failed])) ?? []
      process.off('SIGINT', ignore)
      // The pager did not start: print the text.
      if (typeof code === 'number' && NOT_STARTED_CODES.has(code)) writeTo(this.#stdout, this.#text.join(''))
    }
    for (const note of this.#notes) writeErr(note)
  }

  #start(): void {
    const env = { LESS: LESS_OPTIONS, LV: '-c', ...process.env }
    const pager = spawn('/bin/sh', ['-c', this.#program], { stdio: ['pipe', 'inherit', 'inherit'], env })
    this.#pager = pager
    this.#ended = once(pager, 'exit')
    // Closing the pager early is not an error; Ctrl-C is handled by the pager.
    pager.stdin.on('error', ignore)
    process.on('SIGINT', ignore)
    pager.stdin.write(this.#text.join(''))
  }
}

function ignore(): void {}
