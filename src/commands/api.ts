import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { buildApiRequest } from '../cli/api-request.js'
import { BaseCommand } from '../cli/base-command.js'
import { readInputFile } from '../cli/input-file.js'
import { toJson } from '../cli/output.js'
import { saveBody } from '../cli/save-body.js'
import { readStdin } from '../cli/stdin.js'
import { toApiError } from '../client/client.js'
import { readText } from '../client/http.js'
import { isRecord, toNonEmptyString } from '../lib/json/values.js'

export default class Api extends BaseCommand {
  static override summary = 'call any operation of the service'
  static override examples = [
    '<%= config.bin %> api GET /knowledge-spaces -F limit=5',
    '<%= config.bin %> api POST /knowledge-spaces -F name=Example -F slug=example-space',
    '<%= config.bin %> api POST /queries --input question.json',
    '<%= config.bin %> api GET /knowledge-spaces --paginate',
  ]
  static override args = {
    method: Args.string({ required: true, description: 'GET, POST, PUT, PATCH or DELETE' }),
    path: Args.string({ required: true, description: 'path of the operation' }),
  }
  static override flags = {
    field: Flags.string({
      char: 'F',
      multiple: true,
      multipleNonGreedy: true,
      helpValue: 'key=value',
      description:
        'query parameter of GET, otherwise field of the JSON body; true, false, null and numbers keep their type',
    }),
    'raw-field': Flags.string({
      char: 'f',
      multiple: true,
      multipleNonGreedy: true,
      helpValue: 'key=value',
      description: 'like --field, but always as text',
    }),
    input: Flags.string({ helpValue: 'file', description: 'file with the JSON body; - reads stdin' }),
    paginate: Flags.boolean({ description: 'follow nextCursor to the end; print one item per line' }),
    output: Flags.string({ char: 'o', helpValue: 'file', description: 'file for the response (default: stdout)' }),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(Api)
    const { input } = flags
    const source =
      input === '-' ? readStdin('the body') : input === undefined ? undefined : readInputFile(input, 'the body')
    const request = buildApiRequest({
      method: args.method,
      path: args.path,
      fields: flags.field ?? [],
      rawFields: flags['raw-field'] ?? [],
      input: await source,
    })
    const client = await this.client()
    if (flags.paginate) {
      await this.printPages(request)
      return
    }
    const response = await client.sendRaw(request)
    if (response.status >= 400) throw await toApiError(response.body)
    await saveBody(response.body, flags.output, this.outputStage)
    const type = String(response.headers['content-type'] ?? '')
    if (flags.output === undefined && this.out.isTerminal && type.includes('json')) this.out.raw('\n')
  }

  private async printPages(request: ReturnType<typeof buildApiRequest>): Promise<void> {
    const client = await this.client()
    let cursor: string | undefined
    do {
      const url = new URL(request.path, 'http://localhost')
      if (cursor !== undefined) url.searchParams.set('cursor', cursor)
      const response = await client.sendRaw({ ...request, path: url.pathname + url.search })
      if (response.status >= 400) throw await toApiError(response.body)
      const page: unknown = JSON.parse(await readText(response.body))
      const items = isRecord(page) && Array.isArray(page.items) ? page.items : [page]
      for (const item of items) this.out.raw(`${toJson(item)}\n`)
      cursor = isRecord(page) ? toNonEmptyString(page.nextCursor) : undefined
    } while (cursor !== undefined)
  }
}
