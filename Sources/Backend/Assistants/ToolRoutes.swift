package import HTTPServer
internal import HTTPTypes
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
                    throw HTTPError(.forbidden, "missing_grant", "The access token is another assistant's.")
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
