/** Calls about signing in, which are no operations: whoever makes them need not have signed in. */
export interface SessionCalls {
  'session.end': { input: object; result: null }
  'session.start': {
    input: { token?: string; name?: string; password?: string; totp?: string }
    result: unknown
  }
  'session.password': { input: { password: string }; result: null }
  'session.confirm': { input: { password: string }; result: null }
  'session.totp/propose': { input: object; result: { secret: string; address: string } }
  'session.totp/enable': { input: { secret: string; code: string }; result: null }
  'session.totp/disable': { input: object; result: null }
}
