/** Where the server of a database is, without what opens it. */
export interface DatabaseAddress {
  /** for people: host and name alone */
  shown: string
  connectionString: string
  /** Asked for each connection, so that a password that was changed is taken up; absent where the environment has it. */
  password?: () => Promise<string>
}
