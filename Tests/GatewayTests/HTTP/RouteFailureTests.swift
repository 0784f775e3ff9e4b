import Backend
import HTTPServer
import HTTPTypes
import Identity
import Logging
import Sockets
import Store
import Testing

/// The log lines of requests that are answered with 500.
struct RouteFailureTests {
    @Test(arguments: TokenError.allCases) func tokenThatDoesNotVerifyIsAnsweredWithItsCode(_ error: TokenError) {
        #expect(error.httpError.status == .unauthorized && error.httpError.code.rawValue == error.code)
    }

    private struct Unknown: Error, CustomStringConvertible { var description: String { "a user's words" } }

    private func answer(throwing error: any Error, _ log: RecordedLog) async -> (status: Int, request: HTTPServerRequest) {
        let route = Route(.get, "/v1/things", "", access: .open, responses: [.noContent]) { _, _ in throw error }
        let router = Router(
            routes: [route], origins: AllowedOrigins([]), failures: AuthFailures(), log: log.logger("patchbay.http"))
        let request = HTTPServerRequest(method: .get, path: "/v1/things")
        return (await router.answer(request, by: router.find(request)).response.status.code, request)
    }

    @Test func failureOfTheStoreIsLoggedWithItsReasonAndTheRequest() async throws {
        let log = RecordedLog()
        let (status, request) = await answer(throwing: StoreError.failed("disk I/O error"), log)
        let line = try #require(log.lines("a route failed").first)
        #expect(status == 500 && line.level == .error)
        #expect(line["route"] == "GET /v1/things" && line["request"] == request.requestID)
        #expect(line["error"]?.contains("disk I/O error") == true)
    }

    @Test func unknownErrorIsLoggedByItsTypeOnly() async throws {
        let log = RecordedLog()
        #expect(await answer(throwing: Unknown(), log).status == 500)
        #expect(try #require(log.lines("a route failed").first)["error"] == "Unknown")
    }

    @Test(arguments: [StoreError.notFound, .busy, .full, .tooManySessions])
    func refusalIsNotLoggedAsAFailure(_ error: StoreError) async {
        let log = RecordedLog()
        #expect(await answer(throwing: error, log).status != 500)
        #expect(log.lines.isEmpty)
    }
}
