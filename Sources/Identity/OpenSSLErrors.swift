import COpenSSL

/// Runs `body` and takes back what it left in OpenSSL's queue of errors.
///
/// The queue belongs to the thread, and TLS on the same thread asks it whether a read has failed (`SSL_get_error`): an error that a
/// bad token left there would close somebody else's connection. A mark removes our errors and keeps those that were there.
func leavingErrorQueueAlone<Answer, Failure: Error>(_ body: () throws(Failure) -> Answer) throws(Failure) -> Answer {
    ERR_set_mark()
    defer { ERR_pop_to_mark() }
    return try body()
}
