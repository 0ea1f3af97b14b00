import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../cli/base-command.js'
import { toJson } from '../cli/output.js'
import { saveText } from '../cli/save-body.js'

export default class Openapi extends BaseCommand {
  static override isPaged = true
  static override summary = 'print the OpenAPI description of the service'
  static override examples = ['<%= config.bin %> openapi -o openapi.json']
  static override flags = {
    output: Flags.string({ char: 'o', helpValue: 'file', description: 'file to write (default: stdout)' }),
  }

  async run(): Promise<void> {
    const { flags } = await this.parse(Openapi)
    const client = await this.client()
    const text = `${toJson(await client.request('GET /openapi.json', {}), { isPretty: true })}\n`
    if (flags.output === undefined) this.out.raw(text)
    else await saveText(text, flags.output)
  }
}
