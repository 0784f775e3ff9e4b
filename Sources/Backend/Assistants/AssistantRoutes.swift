package import HTTPServer
internal import HTTPTypes
internal import Identity
internal import Sockets
package import Store
internal import Wire

/// `/v1/assistants…`, `/v1/users/me/assistants` and `/v1/voices`: public views of assistants, and their definitions for administrators.
package enum AssistantRoutes {
    /// - Parameters:
    ///   - store: keeps definitions; nil omits the routes that change them.
    ///   - changed: called after a change, before the response.
    package static func routes(
        _ assistants: AssistantDirectory, keys: KeysInUse, store: Assistants? = nil, changed: @escaping @Sendable () async -> Void = {}
    ) -> [Route] {
        let administrator = Access.grant("`roomCreate`", keys) { _ in .manageAssistants }
        return [
            Route(
                .get, "/v1/assistants", "Lists all assistants with their definitions", access: administrator,
                responses: [.json(AssistantList.self)]
            ) { _, _ in
                try .json(AssistantList(assistants))
            },
            Route(
                .get, "/v1/assistants/:id", "Shows how clients present an assistant", access: .open, parameters: [id],
                responses: [.json(AssistantView.self), .error(.notFound)]
            ) { request, _ in
                guard let definition = assistants.definition(request.parameter("id")) else { throw notFound }
                return try .json(AssistantView(definition))
            },
            Route(
                .get, "/v1/voices", "Lists the voices that users and assistants choose from", access: .open,
                responses: [.json(VoiceList.self)]
            ) {
                _, _ in
                try .json(VoiceList())
            },
        ] + (store.map { changingRoutes(assistants, administrator, $0, changed) } ?? [])
    }

    /// Routes that list the assistants a user can choose from.
    ///
    /// - Parameter dispatch: determines which assistants have workers; nil if there are none.
    static func choiceRoutes(_ assistants: AssistantDirectory, _ dispatch: DispatchRegistry?, user: Access<UserID>) -> [Route] {
        [
            Route(
                .get, "/v1/users/me/assistants", "Lists the assistants that the user chooses from", access: user,
                responses: [.json(AssistantChoices.self)]
            ) { _, _ in
                try .json(AssistantChoices(assistants, dispatch))
            }
        ]
    }

    static let id = RouteParameter.path("id", .text(1...64), "The assistant")
    static let notFound = HTTPError(.assistantNotFound, "no assistant has this id")

    private static func changingRoutes(
        _ assistants: AssistantDirectory, _ administrator: Access<AccessToken>, _ store: Assistants,
        _ changed: @escaping @Sendable () async -> Void
    ) -> [Route] {
        [
            Route(
                .put, "/v1/assistants/:id", "Stores an assistant's definition, which replaces the configuration's", access: administrator,
                parameters: [id], body: AssistantDefinition.self, responses: [.json(AssistantDefinition.self), .storeFull]
            ) { request, _, definition in
                guard definition.id == request.parameter("id") else {
                    throw HTTPError(.invalidAssistant, "the id in the body differs from the path's")
                }
                if let fault = definition.fault { throw HTTPError(.invalidAssistant, fault) }
                try await store.save(definition, at: .now)
                assistants.put(definition)
                await changed()
                return try .json(definition)
            },
            Route(
                .delete, "/v1/assistants/:id", "Deletes a stored definition; the configuration's, if any, applies again",
                access: administrator, parameters: [id], responses: [.noContent, .error(.notFound), .storeFull]
            ) { request, _ in
                let id = request.parameter("id")
                do throws(StoreError) {
                    try await store.delete(id)
                } catch .notFound {
                    throw HTTPError(.assistantNotFound, "the store has no assistant with this id")
                }
                assistants.remove(id)
                await changed()
                return .noContent
            },
        ]
    }
}
