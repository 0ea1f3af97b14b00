import type { Source } from '../../../contract/gateway/sources.js'

/** A kind of source that the daemon can read, and the fields of its form. */
export interface SourceKind {
  id: string
  title: string
  /** sentence that explains the kind */
  lead: string
  type: Source['type']
  /** `metadata.provider`; undefined for web sites */
  provider?: string
  uri: { label: string; placeholder: string; hint?: string }
  parameters: readonly SourceParameter[]
  /** sign-in methods; the first one that is filled in is used */
  credentials: readonly { title: string; fields: readonly SecretField[] }[]
}

export interface SourceParameter {
  name: string
  label: string
  hint?: string
  /** bounds of an integer; a text if absent */
  number?: { min: number; max: number; placeholder: string }
}

export interface SecretField {
  name: string
  label: string
  optional?: true
}

const TOKEN_SIGN_IN = { title: 'A token', fields: [{ name: 'token', label: 'Token' }] } as const
const PASSWORD_SIGN_IN = {
  title: 'User name and password',
  fields: [
    { name: 'username', label: 'User name' },
    { name: 'password', label: 'Password' },
  ],
} as const

export const SOURCE_KINDS: readonly SourceKind[] = [
  {
    id: 'web',
    title: 'Web site',
    lead: 'The pages of a site below an address, found by links and site maps.',
    type: 'web',
    uri: { label: 'Address', placeholder: 'https://example.com/handbook/', hint: 'Pages below this path are read.' },
    parameters: [
      { name: 'maxPages', label: 'Maximum pages', number: { min: 1, max: 5000, placeholder: '200' } },
      { name: 'maxDepth', label: 'Maximum link depth', number: { min: 0, max: 20, placeholder: '5' } },
      {
        name: 'missingAfter',
        label: 'Remove after',
        hint: 'Consecutive syncs without the page until its document is removed; 0: never.',
        number: { min: 0, max: 100, placeholder: '1' },
      },
    ],
    credentials: [TOKEN_SIGN_IN, PASSWORD_SIGN_IN],
  },
  {
    id: 's3',
    title: 'S3 bucket',
    lead: 'Files of a bucket at AWS or another server with the S3 API.',
    type: 'object-storage',
    provider: 's3',
    uri: { label: 'Bucket', placeholder: 's3://bucket/folder/', hint: 'Or the URL of the server with the bucket.' },
    parameters: [{ name: 'region', label: 'Region', hint: 'Default: us-east-1.' }],
    credentials: [
      {
        title: 'Access key',
        fields: [
          { name: 'accessKeyId', label: 'Access key ID' },
          { name: 'secretAccessKey', label: 'Secret access key' },
          { name: 'sessionToken', label: 'Session token', optional: true },
        ],
      },
    ],
  },
  {
    id: 'webdav',
    title: 'WebDAV drive',
    lead: 'A folder of Nextcloud, ownCloud or another drive.',
    type: 'object-storage',
    provider: 'webdav',
    uri: { label: 'Folder', placeholder: 'https://cloud.example.com/remote.php/dav/files/me/' },
    parameters: [],
    credentials: [PASSWORD_SIGN_IN, TOKEN_SIGN_IN],
  },
  {
    id: 'git',
    title: 'Git repository',
    lead: 'The Markdown files of one branch.',
    type: 'connector',
    provider: 'git',
    uri: { label: 'Repository', placeholder: 'https://example.com/wiki.git' },
    parameters: [
      { name: 'branch', label: 'Branch', hint: 'Default: the default branch of the server.' },
      { name: 'folder', label: 'Folder', hint: 'Only files in this folder.' },
    ],
    credentials: [TOKEN_SIGN_IN, PASSWORD_SIGN_IN],
  },
  {
    id: 'notion',
    title: 'Notion',
    lead: 'The pages shared with an integration.',
    type: 'connector',
    provider: 'notion',
    uri: { label: 'Address', placeholder: 'https://api.notion.com/' },
    parameters: [],
    credentials: [{ title: 'Integration', fields: [{ name: 'token', label: 'Token of the integration' }] }],
  },
]

/** @returns undefined for sources of a kind that the daemon does not read */
export function findKind({ type, metadata }: Source): SourceKind | undefined {
  return SOURCE_KINDS.find((kind) => kind.type === type && (kind.provider ?? 'web') === (metadata.provider ?? 'web'))
}

/** Display name of the kind of a source. */
export function getKindTitle(source: Source): string {
  const { type, metadata } = source
  const otherTitle = type === 'upload' ? 'Uploads' : typeof metadata.provider === 'string' ? metadata.provider : type
  return findKind(source)?.title ?? otherTitle
}

/** What the daemon reads from a source: a complete site, files, pages, or nothing. */
export function getContentType({ type }: Source): 'site' | 'files' | 'pages' | 'nothing' {
  if (type === 'web') return 'site'
  return type === 'object-storage' ? 'files' : type === 'connector' ? 'pages' : 'nothing'
}
