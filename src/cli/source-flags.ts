import * as Flags from '@oclif/core/flags'
import { localPath } from './local-path.js'

export const sourceMetadataFlags = {
  every: Flags.string({ helpValue: '6h', description: 'sync interval, in hours or days', exclusive: ['daily'] }),
  daily: Flags.string({ helpValue: '02:00,14:00', description: 'times of the day to sync' }),
  'utc-offset': Flags.string({ helpValue: '+02:00', description: 'UTC offset of the times of --daily' }),
  'max-pages': Flags.integer({ min: 1, helpValue: 'n', description: 'maximum number of crawled pages (default 200)' }),
  'max-depth': Flags.integer({
    min: 0,
    helpValue: 'n',
    description: 'maximum link depth from the first page (default 5)',
  }),
  provider: Flags.option({
    options: ['s3', 'webdav', 'notion', 'git'] as const,
    description: 'provider of a source of type object-storage (s3, webdav) or connector (notion, git)',
  })(),
  set: Flags.string({
    multiple: true,
    helpValue: 'name=value',
    description: 'parameter of the provider: region of s3, branch and folder of git',
  }),
  'credentials-file': Flags.string({
    ...localPath,
    helpValue: 'file',
    description: 'JSON file with the credentials of the source: {token}, {username, password} or the keys of s3',
  }),
}
