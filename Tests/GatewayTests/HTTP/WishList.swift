import Foundation
import Gateway
import HTTPServer
import HTTPTypes
import Sockets
import Synchronization
import Wire

/// An example service for tests of what all routes share.
enum WishList {
    struct Wish: Codable, Sendable, Described {
        var title: String
        var count: Int?
        var weight: Double?
        var due: String?
        var kind: String?
        var owner: String?
        var tags: [String]?
        var extra: Extra?

        struct Extra: Codable, Sendable {
            var isUrgent: Bool
        }

        static let schema = Schema.named(
            "Wish",
            .object([
                .required("title", .text(1...1 << 20)), .optional("count", .integer(1...99)), .optional("weight", .number(0...1_000)),
                .optional("due", .time), .optional("kind", .choice(["toy", "book"])), .optional("owner", .uuid),
                .optional("tags", .array(of: .text(1...10), atMost: 3)),
                .optional("extra", .object([.required("is_urgent", .boolean)])),
            ]))
    }

    struct Added: Codable, Sendable, Described {
        var list: String
        var wish: Wish

        static let schema = Schema.named("Added", .object([.required("list", .text), .required("wish", Wish.schema)]))
    }

    static let token = "Bearer of wishes"

    static let giver = Access.token("wisher", refusing: [403]) { question -> String in
        guard let token = question.headers[.authorization] else { throw HTTPError(.missingToken, "bring a token") }
        guard token == Self.token else { throw HTTPError(.badSignature, "bring another token") }
        return "giver"
    }

    /// - Parameter gate: blocks `/v1/lists/:list/late` until opened.
    static func routes(gate: Gate = Gate()) -> [Route] {
        [
            Route(
                .post, "/v1/lists/:list/wishes", "Adds a wish", access: .open, body: Wish.self,
                responses: [.json(Added.self, status: .created)]
            ) { question, _, wish in
                try .json(Added(list: question.parameter("list"), wish: wish), status: .created)
            },
            Route(
                .get, "/v1/lists/:list/wishes", "Lists wishes", access: .open,
                parameters: [
                    .query("limit", .integer(1...1_000), "How many"), .query("kind", .choice(["toy", "book"]), "Of which kind"),
                    .path("list", .text(1...20), "Whose"),
                ],
                responses: [.json(.array(of: Wish.schema)), .error(.notFound)]
            ) { question, _ in
                let count = question.query("limit").flatMap { Int($0) } ?? 1
                return try .json((0..<count).map { Wish(title: "wish \($0)") })
            },
            Route(.get, "/v1/lists/shared", "Lists what is shared", access: .open, responses: [.json(.empty)]) { _, _ in
                try .json([:] as [String: String])
            },
            Route(.delete, "/v1/lists/:list", "Forgets a list", access: giver, responses: [.noContent]) { _, _ in .noContent },
            Route(.get, "/v1/lists/:list", "Shows a list", access: giver, responses: [.json(Wish.self)]) { question, giver in
                try .json(Wish(title: question.parameter("list") + " of " + giver))
            },
            Route(.get, "/v1/lists/:list/late", "Takes its time", access: .open, responses: [.content("text/plain")]) { question, _ in
                await gate.passed()
                return HTTPServerResponse(text: question.parameter("list"))
            },
            Route(
                .get, "/v1/sound", "Many bytes", access: .open,
                parameters: [.requiredQuery("bytes", .integer(0...100_000_000), "How many")], responses: [.content("audio/ogg")]
            ) { question, _ in
                HTTPServerResponse(status: .ok, fields: [.contentType: "audio/ogg"], body: sound(Int(question.query("bytes")!)!))
            },
            Route(.get, "/v1/broken", "Fails", access: .open, responses: [.noContent]) { _, _ in throw SecretError() },
        ]
    }

    static func sound(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 9) } }

    private struct SecretError: Error {
        let secret = "what nobody may read"
    }
}

/// Suspends callers until it is opened.
final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    var waitingCount: Int { state.withLock { $0.waiting.count } }

    func passed() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.waiting.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }

    func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }
}
