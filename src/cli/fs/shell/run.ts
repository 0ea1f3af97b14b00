import { toErrorMessage } from '../../../lib/error-message.js'
import { joinVirtualPath, ROOT_PATH } from '../../fs-path.js'
import type { FsReader } from '../reader.js'
import { parseScript, type ShellCommand, ShellError, type ShellPipeline, type ShellWord } from './parse.js'

export type Lines = AsyncIterable<string>

/** A command: yields lines and returns its exit status. */
export type ShellProgram = (args: string[], io: ProgramIo) => AsyncGenerator<string, number>

export interface ProgramIo {
  /** Lines of the command before it in the pipeline. */
  input: Lines | undefined
  shell: Shell
  /** Prints a message and lets the command go on. */
  report(message: string): void
}

export interface ShellParts {
  reader: FsReader
  programs: Readonly<Record<string, ShellProgram>>
  write(line: string): void
  report(message: string): void
  /** maximum duration in milliseconds */
  timeoutMs: number
}

/** Characters that all commands of a script may pass on. */
const MAX_CHARACTERS = 256 * 1024 * 1024
const MAX_COMMANDS = 100

/** Runs scripts of read-only commands on the virtual file system. It starts no processes and writes no files. */
export class Shell {
  readonly reader: FsReader
  /** the current folder */
  folder = ROOT_PATH
  readonly #parts: ShellParts
  readonly #deadline: number
  #characters = 0

  constructor(parts: ShellParts) {
    this.#parts = parts
    this.reader = parts.reader
    this.#deadline = performance.now() + parts.timeoutMs
  }

  /** @returns the exit status of the last command @throws ShellError for a script that is not supported */
  async run(script: string): Promise<number> {
    const pipelines = parseScript(script)
    this.#checkCommands(pipelines)
    let status = 0
    for (const { condition, commands } of pipelines) {
      if ((condition === '&&' && status !== 0) || (condition === '||' && status === 0)) continue
      status = await this.#runPipeline(commands)
    }
    return status
  }

  /** Runs one command. @throws ShellError if it does not exist */
  runProgram(name: string, args: string[], io: ProgramIo): AsyncGenerator<string, number> {
    return this.#guard(this.#findProgram(name)(args, io))
  }

  #checkCommands(pipelines: readonly ShellPipeline[]): void {
    const commands = pipelines.flatMap((pipeline) => pipeline.commands)
    if (commands.length > MAX_COMMANDS)
      throw new ShellError(`the script has ${commands.length} commands; the maximum is ${MAX_COMMANDS}`)
    for (const { words } of commands) this.#findProgram(words[0]?.text ?? '')
  }

  #findProgram(name: string): ShellProgram {
    const { programs } = this.#parts
    const program = Object.hasOwn(programs, name) ? programs[name] : undefined
    if (program !== undefined) return program
    throw new ShellError(
      `${JSON.stringify(name)} is not available; commands are ${Object.keys(programs).join(', ')}`,
      127,
    )
  }

  async #runPipeline(commands: readonly ShellCommand[]): Promise<number> {
    let lines: AsyncGenerator<string, number> | undefined
    for (const command of commands) lines = this.#runCommand(command, lines)
    for (;;) {
      const step = await lines?.next()
      if (step === undefined || step.done) return step?.value ?? 0
      this.#parts.write(step.value)
    }
  }

  async *#runCommand({ words, isSilent }: ShellCommand, input: Lines | undefined): AsyncGenerator<string, number> {
    const [name = '', ...args] = await this.#expandWords(words)
    const report = (message: string) => {
      if (!isSilent) this.#parts.report(`${name}: ${message}`)
    }
    try {
      return yield* this.runProgram(name, args, { input, shell: this, report })
    } catch (error) {
      if (error instanceof ScriptStoppedError) throw error
      report(error instanceof ShellError ? error.message.replace(`${name}: `, '') : toErrorMessage(error))
      return error instanceof ShellError ? error.status : 2
    }
  }

  /** Stops a script that takes too long or passes on too much. */
  async *#guard(lines: AsyncGenerator<string, number>): AsyncGenerator<string, number> {
    for (;;) {
      const step = await lines.next()
      if (performance.now() > this.#deadline)
        throw new ScriptStoppedError(`the script was stopped after ${this.#parts.timeoutMs / 1000} s`)
      if (step.done) return step.value
      this.#characters += step.value.length + 1
      if (this.#characters > MAX_CHARACTERS)
        throw new ScriptStoppedError(`the script was stopped: its commands passed on ${MAX_CHARACTERS} characters`)
      yield step.value
    }
  }

  async #expandWords(words: readonly ShellWord[]): Promise<string[]> {
    const expanded: string[] = []
    for (const word of words) expanded.push(...(await this.#expandWord(word)))
    return expanded
  }

  /** A pattern without a match stays as it is, as in a shell. */
  async #expandWord({ text, pattern }: ShellWord): Promise<string[]> {
    if (pattern === undefined || pattern.startsWith('-')) return [text]
    const paths = await this.reader.match(joinVirtualPath(pattern, this.folder))
    return paths.length === 0 ? [text] : paths
  }
}

/** A script that exceeded a limit. */
export class ScriptStoppedError extends ShellError {}
