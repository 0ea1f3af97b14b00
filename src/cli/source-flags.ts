import * as Flags from '@oclif/core/flags'

/** Flags that stand for keys of a source's metadata. */
export const metadataFlags = {
  every: Flags.string({ helpValue: '6h', description: 'sync this often, in hours or days', exclusive: ['daily'] }),
  daily: Flags.string({ helpValue: '02:00,14:00', description: 'sync at these times of the day' }),
  'utc-offset': Flags.string({ helpValue: '+02:00', description: 'offset of the times of --daily from UTC' }),
  'max-pages': Flags.integer({ min: 1, helpValue: 'n', description: 'most pages that a crawl takes (default 200)' }),
  'max-depth': Flags.integer({ min: 0, helpValue: 'n', description: 'most links from the first page (default 5)' }),
  provider: Flags.option({
    options: ['s3', 'webdav', 'notion', 'git'] as const,
    description: 'what reads a source of type object-storage (s3, webdav) or connector (notion, git)',
  })(),
  set: Flags.string({
    multiple: true,
    helpValue: 'name=value',
    description: 'parameter of the provider: region of s3, branch and folder of git',
  }),
  'credentials-file': Flags.string({
    helpValue: 'file',
    description: 'JSON file with what the source is read with: {token}, {username, password} or the keys of s3',
  }),
}
