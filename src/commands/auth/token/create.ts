import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../../cli/base-command.js'
import { parseSpan } from '../../../cli/units.js'

export default class AuthTokenCreate extends BaseCommand {
  static override summary = 'create a token for the local daemon, which does not have to run'
  static override isLocalOnly = true
  static override examples = [
    '<%= config.bin %> auth token create --tenant example --subject ci --scope "knowledge-spaces:read" --expires 1h',
    '<%= config.bin %> auth token create --json',
  ]
  static override flags = {
    tenant: Flags.string({ helpValue: 'name', description: 'tenant (default: the tenant of this user)' }),
    subject: Flags.string({ helpValue: 'name', description: 'subject of the token (default: this user)' }),
    scope: Flags.string({
      helpValue: 'scopes',
      default: 'knowledge-spaces:read knowledge-spaces:write',
      description: 'scopes of the token, separated by spaces',
    }),
    expires: Flags.string({ helpValue: '30d', default: '30d', description: 'validity period' }),
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
      `id ${created.jti}, valid until ${created.expiresAt}; \`ks auth token revoke ${created.jti}\` revokes it`,
    )
  }
}
