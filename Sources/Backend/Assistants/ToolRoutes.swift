package import HTTPServer
internal import HTTPTypes
internal import OutgoingHTTP
internal import Sockets
internal import Wire

/// `/v1/assistants/:id/tools/:name`: calls of tools by assistants' processes.
package enum ToolRoutes {
    package static func routes(_ tools: ToolCaller, keys: KeysInUse) -> [Route] {
        [
            Route(
                .post, "/v1/assistants/:id/tools/:name", "Calls a tool of the assistant and waits for its result",
                access: .assistant(keys),
                parameters: [AssistantRoutes.id, .path("name", .text(1...64), "The tool")], body: ToolCallBody.self,
                responses: [.json(ToolResult.self)]
                    + [.notFound, .tooManyRequests, .badGateway, .serviceUnavailable, .gatewayTimeout].map {
                        .json(ToolFailure.schema, status: $0)
                    }
            ) { request, assistant, body in
                guard assistant == request.parameter("id") else {
                    throw HTTPError(.missingGrant, "The access token is another assistant's.")
                }
                let arguments = try ToolCallBody.arguments(of: request)
                let result: ToolResult
                do throws(ToolFailure) {
                    result = try await tools.call(request.parameter("name"), of: assistant, body, arguments: arguments)
                } catch {
                    return error.response
                }
                return try .json(result)
            }
        ]
    }
}

/// The body of a tool call. `arguments` is read separately: its members are not known.
struct ToolCallBody: Decodable, Sendable, Described {
    var room: String?
    var sessionId: String?
    var callId: String?

    static let schema = Schema.named(
        "ToolCall",
        .object([
            .required("arguments", .anything), .optional("room", .text(1...256)), .optional("session_id", .text(1...256)),
            .optional("call_id", .text(1...256)),
        ]))

    /// The arguments as JSON text: the text in `arguments`, or the object itself.
    ///
    /// - Throws: `HTTPError` with 400 unless they are a JSON object of at most `ToolCaller.argumentsBytesMax` bytes.
    static func arguments(of request: HTTPServerRequest) throws(HTTPError) -> [UInt8] {
        let text: [UInt8]
        switch (try? JSONValue(parsing: request.body))?["arguments"] {
        case .string(let json)?: text = Array(json.utf8)
        case .object(let members)?: text = (try? JSON.encode(JSONValue.object(members), names: .asDeclared)) ?? []
        default: throw invalid("must be a JSON object, or its text")
        }
        guard text.count <= ToolCaller.argumentsBytesMax else { throw invalid("has more than \(ToolCaller.argumentsBytesMax) bytes") }
        guard case .object? = try? JSONValue(parsing: text, depthMax: 64) else { throw invalid("is not the text of a JSON object") }
        return text
    }

    private static func invalid(_ fault: String) -> HTTPError { HTTPError(.invalidArguments, "arguments \(fault)") }

    /// The request's body: `{"assistant","tool","room"?,"session_id"?,"call_id"?,"arguments"}`. The arguments are passed on unchanged.
    func request(to tool: AssistantTool, of assistant: String, arguments: [UInt8]) -> [UInt8] {
        var members = [JSONValue.Member("assistant", .string(assistant)), .init("tool", .string(tool.name))]
        for (name, text) in [("room", room), ("session_id", sessionId), ("call_id", callId)] {
            if let text { members.append(.init(name, .string(text))) }
        }
        guard let head = try? JSON.encode(JSONValue.object(members), names: .asDeclared) else {
            preconditionFailure("texts can be encoded")
        }
        return head.dropLast() + Array(#","arguments":"#.utf8) + arguments + [UInt8(ascii: "}")]
    }
}

struct ToolResult: Encodable, Sendable, Described {
    /// The tool's HTTP status, 200 to 299.
    var status: Int
    var body: String

    static let schema = Schema.named(
        "ToolResult", .object([.required("status", .integer(200...299)), .required("body", .text)]))
}

/// Why a tool gave no result. Its body says whether the same call may succeed later.
struct ToolFailure: Error, Sendable, Hashable {
    private var code: ErrorCode
    private var message: String
    private var retry: Bool
    /// The tool's HTTP status; nil without a response.
    private var status: Int?

    var isTimeout: Bool { code == .toolTimeout }

    /// - Parameter error: nil for one that another sender than `OutgoingClient` throws.
    init(_ error: OutgoingError?) {
        switch error {
        case .timeout: self.init(.toolTimeout, "the tool did not answer in time", retry: true)
        case .unknownHost, .refused, .untrusted, .connection, .trust, nil: self.init(.toolFailed, "the tool cannot be reached", retry: true)
        case .busy: self.init(.toolFailed, "the gateway has too many requests to other servers", retry: true)
        case .cancelled: self.init(.toolFailed, "the call was cancelled", retry: true)
        case .invalidURL: self.init(.toolFailed, "the tool's URL cannot be used", retry: false)
        case .responseTooLong:
            self.init(.toolFailed, "the tool's result has more than \(ToolCaller.resultBytesMax) bytes", retry: false)
        }
    }

    /// - Parameter status: anything but 2xx.
    init(status: Int) {
        let retry = status >= 500 || status == 408 || status == 429
        self.init(.toolFailed, "the tool answered with status \(status)", retry: retry)
        self.status = status
    }

    static let notText = ToolFailure(.toolFailed, "the tool's result is not UTF-8", retry: false)
    static let noAssistant = ToolFailure(.assistantNotFound, "no assistant has this id", retry: false)
    static let noTool = ToolFailure(.toolNotFound, "the assistant has no tool of this name", retry: false)
    static let noKey = ToolFailure(.noSigningKey, "the gateway has no HS256 key to sign the request with", retry: false)
    static let tooManyCalls = ToolFailure(
        .tooManyToolCalls, "the assistant has \(ToolCaller.callsMax) calls of tools in progress", retry: true)

    private init(_ code: ErrorCode, _ message: String, retry: Bool) {
        (self.code, self.message, self.retry) = (code, message, retry)
    }

    private struct Body: Encodable {
        var code: String
        var message: String
        var retry: Bool
        var status: Int?
    }

    /// `retry` is missing in errors that any route may answer with.
    static let schema = Schema.named(
        "ToolFailure",
        .object([
            .required("code", .text(1...64)), .required("message", .text), .optional("retry", .boolean),
            .optional("status", .integer(100...999)),
        ]))

    var response: HTTPServerResponse {
        var response = HTTPServerResponse(HTTPError(code, message))
        let body = Body(code: code.rawValue, message: message, retry: retry, status: status)
        if let json = try? JSON.encode(body, names: .snakeCase) { response.body = json }
        return response
    }
}
