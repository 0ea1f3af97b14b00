import { writeFile } from 'node:fs/promises'
import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../cli/base-command.js'

export default class Openapi extends BaseCommand {
  static override summary = 'print the OpenAPI description of the service'
  static override examples = ['<%= config.bin %> openapi -o openapi.json']
  static override flags = {
    output: Flags.string({ char: 'o', helpValue: 'file', description: 'file to write (default: stdout)' }),
  }

  async run(): Promise<void> {
    const { flags } = await this.parse(Openapi)
    const client = await this.client()
    const text = `${JSON.stringify(await client.request('GET /openapi.json', {}), null, 2)}\n`
    if (flags.output === undefined) this.out.raw(text)
    else await writeFile(flags.output, text)
  }
}
