import { toErrorMessage } from '../../../lib/error-message.js'
import { resolveVirtualPath } from '../../fs-path.js'
import { ShellError } from './parse.js'
import { type Lines, type ProgramIo, ScriptStoppedError } from './run.js'

/** The lines of a file. */
export async function* readLines(io: ProgramIo, path: string): AsyncGenerator<string> {
  let rest = ''
  for await (const { content } of io.shell.reader.read(resolveVirtualPath(path, io.shell.folder))) {
    const lines = (rest + content).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
  if (rest !== '') yield rest
}

/** The lines of files in turn, or of the command before. */
export async function* readInput(command: string, io: ProgramIo, paths: readonly string[]): AsyncGenerator<string> {
  if (paths.length === 0) yield* getInput(command, io)
  for (const path of paths) yield* path === '-' ? getInput(command, io) : readLines(io, path)
}

/** Filters each file, or the lines of the command before; a file that cannot be read is reported and left out. */
export async function* filterEach(
  command: string,
  io: ProgramIo,
  paths: readonly string[],
  filter: (lines: Lines, path: string | undefined) => AsyncIterable<string>,
): AsyncGenerator<string, number> {
  if (paths.length === 0) {
    yield* filter(getInput(command, io), undefined)
    return 0
  }
  let status = 0
  for (const path of paths) {
    try {
      yield* filter(readInput(command, io, [path]), path)
    } catch (error) {
      if (error instanceof ScriptStoppedError) throw error
      io.report(toErrorMessage(error))
      status = 1
    }
  }
  return status
}

function getInput(command: string, { input }: ProgramIo): Lines {
  if (input !== undefined) return input
  throw new ShellError(`${command}: give a path, or pipe lines into it`)
}
