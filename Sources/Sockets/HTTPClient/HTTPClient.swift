internal import Foundation
internal import Synchronization

/// Makes requests of other servers, on one thread of its own: nobody else waits for a server, and no server for another.
///
/// Its policy: so many requests are under way at once, so many more wait in line, and what comes beyond is refused (`busy`). The thread ends
/// when nobody refers to this object any more. This is the outer half, for all threads; `HTTPClientThread` lives inside.
package final class HTTPClient: Sendable {
    private let mailbox = Mailbox<HTTPClientMessage>()
    private let lastID = Atomic(0)

    /// - Throws: `LoopError` if the system has no memory or descriptors for another loop, `TLSFileError` if the authority's certificate
    ///   cannot be read.
    package init(trusting trust: ClientTrust = .system, limits: HTTPClientLimits = HTTPClientLimits()) async throws {
        let problem: (any Error)? = await withCheckedContinuation { started in
            let thread = Thread { [mailbox] in
                HTTPClientThread(mailbox: mailbox, limits: limits).run(trusting: trust) { started.resume(returning: $0) }
            }
            thread.name = "patchbay-http"
            thread.stackSize = 1 << 20
            thread.start()
        }
        if let problem { throw problem }
    }

    deinit {
        mailbox.post(.stop)
    }

    /// Until the answer is there whole. Cancelling the task gives the request up.
    package func send(_ request: HTTPClientRequest) async throws(HTTPClientError) -> HTTPAnswer {
        let id = lastID.add(1, ordering: .relaxed).newValue
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { completion in
                mailbox.post(.send(id, request, completion))
                // Whoever cancelled before that cancelled nothing.
                if Task.isCancelled { mailbox.post(.cancel(id)) }
            }
        } onCancel: {
            mailbox.post(.cancel(id))
        }
        // The thread lives as long as somebody refers to this.
        return try withExtendedLifetime(self) { result }.get()
    }
}

package struct HTTPClientLimits: Sendable {
    /// Requests under way, each with a connection of its own.
    package var atOnceMax: Int
    /// Requests in line behind them.
    package var waitingMax: Int

    package init(atOnceMax: Int = 64, waitingMax: Int = 1_024) {
        self.atOnceMax = atOnceMax
        self.waitingMax = waitingMax
    }
}

typealias HTTPClientCompletion = CheckedContinuation<Result<HTTPAnswer, HTTPClientError>, Never>

/// What crosses to the client's thread.
enum HTTPClientMessage: Sendable {
    case send(Int, HTTPClientRequest, HTTPClientCompletion)
    case found(Int, Result<[String], HostName.Fault>)
    case cancel(Int)
    case stop
}
