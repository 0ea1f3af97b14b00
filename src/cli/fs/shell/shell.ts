import { FILE_PROGRAMS } from './file-programs.js'
import { GREP_PROGRAMS } from './grep-program.js'
import { Shell, type ShellParts } from './run.js'
import { TEXT_PROGRAMS } from './text-programs.js'

export { ShellError } from './parse.js'
export { ScriptStoppedError } from './run.js'

/** Runs a script of read-only commands. @returns the exit status @throws ShellError if it is not supported or stopped */
export async function runScript(script: string, parts: Omit<ShellParts, 'programs'>): Promise<number> {
  return await new Shell({ ...parts, programs: { ...FILE_PROGRAMS, ...GREP_PROGRAMS, ...TEXT_PROGRAMS } }).run(script)
}
