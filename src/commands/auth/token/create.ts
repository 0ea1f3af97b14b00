import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../../cli/base-command.js'
import { parseSpan } from '../../../cli/units.js'

export default class AuthTokenCreate extends BaseCommand {
  static override summary = 'sign a token for the local daemon, which need not be running'
  static override examples = [
    '<%= config.bin %> auth token create --tenant example --subject ci --scope "knowledge-spaces:read" --expires 1h',
    '<%= config.bin %> auth token create --json',
  ]
  static override flags = {
    tenant: Flags.string({ helpValue: 'name', description: 'tenant (default: the one of this user)' }),
    subject: Flags.string({ helpValue: 'name', description: 'who the token is for (default: this user)' }),
    scope: Flags.string({
      helpValue: 'scopes',
      default: 'knowledge-spaces:read knowledge-spaces:write',
      description: 'what it allows, separated by spaces',
    }),
    expires: Flags.string({ helpValue: '30d', default: '30d', description: 'how long it is good for' }),
  }

  async run(): Promise<void> {
    const { flags } = await this.parse(AuthTokenCreate)
    const { createLocalToken } = await import('../../../cli/local-tokens.js')
    const created = await createLocalToken(this.dirs.data, {
      tenant: flags.tenant,
      subject: flags.subject,
      scope: flags.scope,
      lifeMs: parseSpan(flags.expires, '--expires'),
    })
    if (this.out.isJson) this.out.json(created)
    else this.out.raw(`${created.token}\n`)
    this.out.note(
      `id ${created.jti}, good until ${created.expiresAt}; \`ks auth token revoke ${created.jti}\` refuses it`,
    )
  }
}
