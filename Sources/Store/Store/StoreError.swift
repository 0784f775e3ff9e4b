internal import GRDB

/// Why the store did not do what it was asked.
package enum StoreError: Error, Hashable, Sendable {
    /// There is no such thing, or it is somebody else's: the two can't be told apart.
    case notFound
    case emailTaken
    case invalidCursor
    /// A value outside its range, or text without end.
    case refused(String)
    /// No room on the disk. Nothing was written; reading goes on, and so does writing as soon as there is room.
    case full
    /// More waits to be written than `StoreLimits.writesWaitingMax`, or another process holds the store for too long.
    case busy
    case cancelled

    /// Another process has the store in this directory open.
    case alreadyOpen(directory: String)
    /// No key that was given is the one with this id, by which the store is locked.
    case wrongMasterKey(neededID: String)
    /// The directory holds no store.
    case missing(directory: String)
    /// Written by a newer version of this program.
    case fromTheFuture
    /// What stands at `place` is not what was written there.
    case damaged(place: String)
    /// SQLite's own words; they never hold a value.
    case failed(String)
}

extension StoreError {
    init(_ error: any Error) {
        switch error {
        case let error as StoreError: self = error
        case is CancellationError: self = .cancelled
        case let error as DatabaseError: self.init(error)
        default: self = .failed("\(type(of: error))")
        }
    }

    private init(_ error: DatabaseError) {
        switch error.resultCode {
        case .SQLITE_FULL, .SQLITE_IOERR: self = .full
        case .SQLITE_BUSY, .SQLITE_LOCKED: self = .busy
        case .SQLITE_INTERRUPT: self = .cancelled
        case .SQLITE_CORRUPT, .SQLITE_NOTADB: self = .damaged(place: "the database's file")
        default: self = .failed("\(error.extendedResultCode): \(error.message ?? "")")
        }
    }
}

extension StoreError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .notFound: "There is no such thing."
        case .emailTaken: "This e-mail address has an account."
        case .invalidCursor: "This is no cursor of this list."
        case .refused(let reason): reason
        case .full: "There is no room on the store's disk."
        case .busy: "The store has too much to do."
        case .cancelled: "Nobody waits for this any more."
        case .alreadyOpen(let directory): "The store in \(directory) is open in another process."
        case .wrongMasterKey(let id): "The store is locked with the master key \(id), which was not given."
        case .missing(let directory): "There is no store in \(directory)."
        case .fromTheFuture: "The store was written by a newer version of this program."
        case .damaged(let place): "The store is damaged: \(place) is not what was written there."
        case .failed(let reason): "The store failed: \(reason)."
        }
    }
}
