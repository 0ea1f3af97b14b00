import { expect, it } from 'vitest'
import { filesBelow, readFile } from './tree.js'

/** All output of `ks` and `kchat` passes this file, which escapes text for terminals. */
const WRITER = 'src/cli/terminal-writer.ts'
/** Completion: the shell reads the output, and the file must load little. */
const FOR_SHELLS = ['src/cli/complete.ts']

const WRITES =
  /\b(?:process|stdout|stderr)\.write\(|\bstd(?:out|err)\.write\(|\bconsole\.(?:log|info|warn|error|debug|table|dir)\(|\bwriteSync\((?:1|2)\b|_rawDebug/

const programs = ['src/cli', 'src/commands', 'src/kchat', 'src/client', 'src/mcp'].flatMap(filesBelow)

it('A73: only terminal-writer.ts writes to stdout and stderr', () => {
  const writers = programs.filter((file) => /\.tsx?$/.test(file) && WRITES.test(readFile(file)))
  expect(writers).toEqual(FOR_SHELLS)
})

it('ks and kchat call guardOutput as their first statement', () => {
  for (const file of ['src/cli/main.ts', 'src/cli/start.ts', 'src/kchat/main.ts'])
    expect([file, /\): Promise<void> \{\n {2}guardOutput\('\w+'\)\n/.test(readFile(file))]).toEqual([file, true])
})

it('only the files that draw views write control sequences', () => {
  const drawing = programs.filter((file) =>
    /writeControls\(|createFrameStream\(|createLineStream\(/.test(readFile(file)),
  )
  expect(drawing.sort()).toEqual([
    'src/cli/progress.ts',
    'src/cli/prompt.ts',
    WRITER,
    'src/cli/top/screen.ts',
    'src/commands/spaces/status.ts',
    'src/kchat/chat/answers.ts',
    'src/kchat/chat/view.ts',
  ])
})
