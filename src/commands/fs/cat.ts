import * as Args from '@oclif/core/args'
import { spaceFlag } from '../../cli/common-flags.js'
import { FsCommand } from '../../cli/fs/fs-command.js'
import type { CatResult } from '../../contract/gateway/fs.js'

export default class FsCat extends FsCommand {
  static override isPaged = true
  static override summary = 'print the text of files of a space'
  static override examples = [
    '<%= config.bin %> fs cat /knowledge/documents/guide.md --space example-space',
    '<%= config.bin %> fs cat "/sources/**/*.md" --space example-space',
  ]
  static override strict = false
  static override args = { path: Args.string({ required: true, description: 'paths, which may have wildcards' }) }
  static override flags = { ...spaceFlag }

  async run(): Promise<void> {
    const { argv } = await this.parse(FsCat)
    const paths = await this.expandPaths(argv)
    if (this.out.isJson) await this.printFiles(paths)
    else for (const path of paths) await this.printText(path)
  }

  private async printText(path: string): Promise<void> {
    let lastCharacter = ''
    for await (const part of (await this.reader()).read(path)) {
      this.out.text(part.content)
      lastCharacter = part.content.slice(-1) || lastCharacter
    }
    if (this.out.isTerminal && lastCharacter !== '' && lastCharacter !== '\n') this.out.raw('\n')
  }

  /** Prints one file as an object, several as a list. */
  private async printFiles(paths: readonly string[]): Promise<void> {
    const files: object[] = []
    for (const path of paths) {
      const parts: CatResult[] = []
      for await (const part of (await this.reader()).read(path)) parts.push(part)
      const [first] = parts
      if (first === undefined) continue
      const { nextOffset: _, ...rest } = first
      files.push({ ...rest, content: parts.map((part) => part.content).join(''), truncated: false })
    }
    if (paths.length === 1) this.out.json(files[0])
    else await this.out.list(files, { columns: [{ field: 'path' }, { field: 'content' }], empty: '' })
  }
}
