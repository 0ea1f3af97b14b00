import type { ApiError } from '../client/errors.js'
import { EXIT } from '../contract/errors.js'
import { CliError } from './cli-error.js'
import type { ConfiguredService } from './contexts.js'

/** The error for a token that a service refused, with how to get another. */
export function toTokenError(error: ApiError, service: ConfiguredService): CliError {
  if (service.kind === 'local') {
    return new CliError(`the local daemon refused the token: ${error.message}`, {
      code: error.code,
      exit: EXIT.notAllowed,
      hint: service.token === undefined ? '`ks daemon restart` renews it' : 'it came from KS_TOKEN or a token file',
    })
  }
  const owner = service.context === undefined ? '' : ` of context ${JSON.stringify(service.context)}`
  const flag = service.context === undefined ? `--url ${service.url}` : `--context ${service.context}`
  return new CliError(`${service.url} refused the token${owner}: ${error.message}`, {
    code: error.code,
    exit: EXIT.notAllowed,
    hint: `\`ks auth login ${flag}\``,
  })
}
