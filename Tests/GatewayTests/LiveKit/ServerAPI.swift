import Backend
import Foundation
import Gateway
import HTTPServer
import Identity
import LiveKitProtocol
import SwiftProtobuf
import Testing
import Wire

/// A client of LiveKit's server API with a token that has every grant.
struct ServerAPI {
    let gateway: TestGateway
    private let token: String

    /// - Parameter room: the room of `roomAdmin`.
    init(_ gateway: TestGateway, administering room: String = "r", _ change: (inout VideoGrant) -> Void = { _ in }) {
        self.gateway = gateway
        token = TestToken.administering {
            ($0.roomCreate, $0.roomList, $0.roomRecord, $0.roomAdmin, $0.room) = (true, true, true, true, room)
            change(&$0)
        }
    }

    /// A gateway with the API, and no assistants and sessions.
    static func gateway(_ change: (inout GatewaySettings) -> Void = { _ in }) throws -> TestGateway {
        let inbox = DispatchInbox()
        return try TestGateway(
            dispatch: inbox,
            serving: { rooms, keys in
                let dispatch = DispatchService(
                    inbox: inbox, rooms: rooms, keys: keys, server: ServerInfo(version: "tests", node: "test"))
                return LiveKitRoutes.routes(rooms, dispatch, nil, keys: keys)
            }, change)
    }

    /// Asks in JSON.
    ///
    /// - Parameter method: such as `RoomService/ListRooms`.
    func ask(_ method: String, _ body: String, type: String = "application/json") throws -> HTTPAnswer {
        try answer(HTTPAsk.json("POST", "/twirp/livekit.\(method)", body, with: [("Authorization", "Bearer " + token)], type: type))
    }

    /// Asks in Protocol Buffers.
    func ask<Response: Message>(_ method: String, _ request: some Message, as _: Response.Type = Response.self) throws -> Response {
        let answer = try answer(
            HTTPAsk.json(
                "POST", "/twirp/livekit.\(method)", try request.serializedBytes() as [UInt8], with: [("Authorization", "Bearer " + token)],
                type: "application/protobuf"))
        guard answer.status == 200, answer.fields["content-type"] == "application/protobuf" else {
            throw DidNotHappen(what: "\(method); the answer was \(answer.status) \(answer.text)")
        }
        return try Response(serializedBytes: answer.body)
    }

    /// The code of the Twirp error that a request gets.
    func refusal(_ method: String, _ body: String) throws -> String {
        let answer = try ask(method, body)
        #expect(answer.status != 200, "\(method) \(body): \(answer.text)")
        return answer.json?["code"] as? String ?? answer.text
    }

    private func answer(_ ask: HTTPAsk) throws -> HTTPAnswer {
        let answer = try #require(try HTTPConnection(gateway).answer(to: ask))
        if answer.fields["content-type"] == "application/json" { try Contract.hold(answer, to: ask, gateway.gateway.routes) }
        return answer
    }
}
