import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import type { RevokedToken } from '../../cli/json-output/machine.js'
import { parseTokenClaims } from '../../cli/token-claims.js'
import { parseSpan } from '../../cli/units.js'

export default class AuthToken extends BaseCommand {
  static override summary = 'create a token for the local daemon, which does not have to run, or revoke one'
  static override isLocalOnly = true
  static override examples = [
    '<%= config.bin %> auth token --tenant example --subject ci --scope "knowledge-spaces:read" --expires 1h',
    '<%= config.bin %> auth token --revoke 0192f0c1-2b6c-7e1a-9d7e-1c0a5f6b7d8e',
    '<%= config.bin %> auth token --json',
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
    revoke: Flags.string({
      helpValue: 'id',
      description: 'revoke the token with this id, this token, or the session of a console tab',
    }),
  }

  async run(): Promise<void> {
    const { flags } = await this.parse(AuthToken)
    if (flags.revoke !== undefined) return await this.revoke(flags.revoke)
    const { createLocalToken } = await import('../../cli/local-tokens.js')
    const created = await createLocalToken(this.dirs.data, {
      tenant: flags.tenant,
      subject: flags.subject,
      scope: flags.scope,
      lifeMs: parseSpan(flags.expires, '--expires'),
    })
    if (this.out.isJson) this.out.json(created)
    else this.out.raw(`${created.token}\n`)
    this.out.note(
      `id ${created.jti}, valid until ${created.expiresAt}; \`ks auth token --revoke ${created.jti}\` revokes it`,
    )
  }

  private async revoke(text: string): Promise<void> {
    const jti = parseTokenClaims(text).id ?? text
    const client = await this.client()
    await client.request('DELETE /daemon/tokens/{jti}', { path: { jti } })
    if (this.out.isJson) this.out.json({ jti, revoked: true } satisfies RevokedToken)
    else this.out.note(`Revoked the token ${jti}.`)
  }
}
