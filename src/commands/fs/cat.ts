import * as Args from '@oclif/core/args'
import { BaseCommand } from '../../cli/base-command.js'
import { spaceFlag } from '../../cli/common-flags.js'

import { virtualPath } from '../../cli/fs-path.js'
import type { CatResult } from '../../contract/gateway/fs.js'

export default class FsCat extends BaseCommand {
  static override pages = true
  static override summary = 'print the text of a file of a space'
  static override examples = ['<%= config.bin %> fs cat /knowledge/documents/guide.md --space example-space']
  static override args = { path: Args.string({ required: true, description: 'path that begins with a namespace' }) }
  static override flags = { ...spaceFlag }

  async run(): Promise<void> {
    const { args } = await this.parse(FsCat)
    const path = virtualPath(args.path)
    const { id } = await this.space()
    if (this.out.isJson) {
      const parts: CatResult[] = []
      for await (const part of this.parts(id, path)) parts.push(part)
      const [first] = parts
      if (first === undefined) return
      const { nextOffset: _, ...whole } = first
      this.out.json({ ...whole, content: parts.map((part) => part.content).join(''), truncated: false })
      return
    }
    let end = ''
    for await (const part of this.parts(id, path)) {
      this.out.text(part.content)
      end = part.content.slice(-1) || end
    }
    if (this.out.isTerminal && end !== '' && end !== '\n') this.out.raw('\n')
  }

  /** Reads a file from start to end in parts. */
  private async *parts(id: string, path: string): AsyncGenerator<CatResult> {
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
