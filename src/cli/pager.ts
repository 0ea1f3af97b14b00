import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Writable } from 'node:stream'
import { EXIT } from '../contract/errors.js'
import { type Env, envOn, envValue } from './environment.js'
import { ttyStyled } from './terminal.js'
import { writeErr, writeTo } from './terminal-writer.js'

/** Options that `git` sets, too: quit if one screen suffices, show colours, keep the text on the screen. */
const LESS = 'FRX'
const COLOURS = /\u001b\[[\d;]*m/g
/** Exit codes of the shell for a program that does not exist or is not executable. */
const NOT_RUN = new Set([126, 127])

/** The shell command of the pager, as in `git`, or undefined for none. */
export function pagerOf(env: Env): string | undefined {
  if (envOn(env, 'CI') || env.TERM === 'dumb') return undefined
  const asked = env.KS_PAGER ?? envValue(env, 'PAGER')
  if (asked === undefined) return 'if command -v less > /dev/null; then exec less; else exec cat; fi'
  return asked.trim() === '' || asked.trim() === 'cat' ? undefined : asked
}

/** Output to a terminal that starts a pager once it is longer than the screen. */
export class PagedOutput {
  readonly isTTY = true
  readonly #program: string
  readonly #stdout: NodeJS.WriteStream
  #text: string[] = []
  #lines = 0
  #remarks: string[] = []
  #pager: (ChildProcess & { stdin: Writable }) | undefined
  #ended: Promise<unknown[]> | undefined

  constructor(program: string, stdout: NodeJS.WriteStream) {
    this.#program = program
    this.#stdout = stdout
  }

  get columns(): number {
    return this.#stdout.columns
  }

  write(written: string): boolean {
    const text = ttyStyled(written)
    this.#text.push(text)
    if (this.#pager !== undefined) return this.#pager.stdin.write(text)
    for (const line of text.split('\n').slice(0, -1))
      this.#lines += Math.max(1, Math.ceil(line.replace(COLOURS, '').length / Math.max(1, this.columns)))
    // One line is left for the shell's prompt.
    if (this.#lines >= this.#stdout.rows) this.#start()
    return true
  }

  /** Stores a note for stderr that is printed after the output. */
  later(text: string): boolean {
    this.#remarks.push(text)
    return true
  }

  /** Resolves when the pager has exited. */
  async end(): Promise<void> {
    if (this.#pager === undefined) writeTo(this.#stdout, this.#text.join(''))
    else {
      this.#pager.stdin.end()
      const [code] = (await this.#ended?.catch(() => [EXIT.failed])) ?? []
      process.off('SIGINT', nothing)
      // The pager did not start: print the text.
      if (typeof code === 'number' && NOT_RUN.has(code)) writeTo(this.#stdout, this.#text.join(''))
    }
    for (const remark of this.#remarks) writeErr(remark)
  }

  #start(): void {
    const env = { LESS, LV: '-c', ...process.env }
    const pager = spawn('/bin/sh', ['-c', this.#program], { stdio: ['pipe', 'inherit', 'inherit'], env })
    this.#pager = pager
    this.#ended = once(pager, 'exit')
    // Closing the pager early is not an error; Ctrl-C is handled by the pager.
    pager.stdin.on('error', nothing)
    process.on('SIGINT', nothing)
    pager.stdin.write(this.#text.join(''))
  }
}

function nothing(): void {}
