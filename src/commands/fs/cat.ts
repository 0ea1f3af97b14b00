import * as Args from '@oclif/core/args'
import { BaseCommand } from '../../cli/base-command.js'
import { spaceFlag } from '../../cli/common-flags.js'
import { parseVirtualPath } from '../../cli/fs-path.js'
import type { CatResult } from '../../contract/gateway/fs.js'

export default class FsCat extends BaseCommand {
  static override isPaged = true
  static override summary = 'print the text of a file of a space'
  static override examples = ['<%= config.bin %> fs cat /knowledge/documents/guide.md --space example-space']
  static override args = {
    path: Args.string({ required: true, description: 'path, such as /knowledge/documents/FILE' }),
  }
  static override flags = { ...spaceFlag }

  async run(): Promise<void> {
    const { args } = await this.parse(FsCat)
    const path = parseVirtualPath(args.path)
    const { id } = await this.space()
    if (this.out.isJson) {
      const parts: CatResult[] = []
      for await (const part of this.readParts(id, path)) parts.push(part)
      const [first] = parts
      if (first === undefined) return
      const { nextOffset: _, ...rest } = first
      this.out.json({ ...rest, content: parts.map((part) => part.content).join(''), truncated: false })
      return
    }
    let lastCharacter = ''
    for await (const part of this.readParts(id, path)) {
      this.out.text(part.content)
      lastCharacter = part.content.slice(-1) || lastCharacter
    }
    if (this.out.isTerminal && lastCharacter !== '' && lastCharacter !== '\n') this.out.raw('\n')
  }

  /** Reads a file from start to end in parts. */
  private async *readParts(id: string, path: string): AsyncGenerator<CatResult> {
    const client = await this.client()
    let offset: number | undefined = 0
    while (offset !== undefined) {
      const part: CatResult = await client.request('GET /knowledge-spaces/{id}/fs/cat', {
        path: { id },
        query: { path, offset },
      })
      yield part
      offset = part.nextOffset
    }
  }
}
