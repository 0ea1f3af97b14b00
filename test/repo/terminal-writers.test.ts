import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))

/**
 * Who writes to stdout or stderr without `Output`, and why nothing that others wrote goes through unseen: what terminals
 * obey is taken out by `tty`, `ttyLine`, `cell` and `toJson` (src/cli/terminal.ts, columns.ts, output.ts).
 */
const WRITERS: Readonly<Record<string, string>> = {
  'src/cli/completing/asker.ts': '`client.raw` is no writer',
  'src/cli/console-address.ts': '`client.raw` is no writer',
  'src/cli/fail.ts': 'stackOf is safe',
  'src/cli/guard-output.ts': 'an error of the system',
  'src/cli/output.ts': 'it is the one place',
  'src/cli/filter.ts': 'through tty where it is a terminal',
  'src/cli/pager.ts': 'what Output made safe',
  'src/cli/prompt.ts': 'each question goes through tty',
  'src/cli/top/reading.ts': '`client.raw` is no writer',
  'src/cli/top/screen.ts': 'our own sequences; the text is made safe in view.ts',
  'src/cli/ingest/records.ts': 'cells',
  'src/cli/report-error.ts': 'renderReport is safe; wrapping adds line ends and spaces alone',
  'src/cli/watch/session.ts': 'cells',
  'src/commands/api.ts': 'toJson, and a line end; `client.raw` is no writer',
  'src/commands/auth/token/create.ts': 'a token of our own making',
  'src/commands/completion/index.ts': 'our own text',
  'src/commands/fs/cat.ts': 'a line end',
  'src/commands/golden/export.ts': 'toJson',
  'src/commands/openapi.ts': 'toJson',
  'src/commands/query.ts': 'a line end',
  'src/commands/snapshots/cat.ts': 'a line end',
  'src/commands/spaces/status.ts': 'clears the screen for --watch',
  'src/daemon/log.ts': 'JSON, and what JSON lets through escaped',
  'src/daemon/main.ts': 'what an operator did wrong, and addresses',
  'src/engine/parse/child.ts': 'read by its parent alone',
  'src/engine/parse/draw/draw-child.ts': 'read by nobody',
  'src/engine/search/text-thread.ts': 'read by its parent alone',
  'src/engine/storage/statements.ts': '`statement.raw` is no writer',
  'src/kchat/chat/answers.ts': 'base64 between our own sequences',
  'src/kchat/chat/frame.ts': 'our own sequences',
  'src/kchat/chat/pipe.ts': 'toJson, and a line end',
  'src/kchat/chat/view.ts': 'our own sequences; the text is made safe in lines.ts and markdown.ts',
  'src/kchat/main.ts': 'stackOf is safe',
  'src/kchat/program.ts': 'our own text',
  'src/kchat/send.ts': 'a pipe that asked for nothing but the answer, and line ends',
  'src/kchat/service.ts': 'each remark goes through tty',
  'src/kchat/settings.ts': 'through tty',
  'src/kchat/version.ts': 'through tty',
}

it('A73: nobody writes to the terminal past what makes text safe for it', () => {
  const writers = readdirSync(join(root, 'src'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => /\b(stdout|stderr)\.write\(|\bconsole\.|\.raw\(/.test(readFileSync(file, 'utf8')))
    .map((file) => relative(root, file))
  expect(writers.sort()).toEqual(Object.keys(WRITERS).sort())
})
