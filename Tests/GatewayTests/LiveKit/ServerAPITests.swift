import Foundation
import Gateway
import HTTPServer
import Identity
import LiveKitProtocol
import Testing
import Wire

@testable import Backend

/// LiveKit's server API, asked in JSON and in Protocol Buffers.
@Suite(.onOwnThread, .serialized, .timeLimit(.minutes(1)))
struct ServerAPITests {
    @Test func aBackendOpensARoomAndFindsItsParticipant() throws {
        let gateway = try ServerAPI.gateway()
        let api = ServerAPI(gateway)
        var creation = LiveKitCreateRoomRequest()
        (creation.name, creation.metadata, creation.emptyTimeout, creation.maxParticipants) = ("r", "about r", 60, 3)
        let created = try api.ask("RoomService/CreateRoom", creation, as: LiveKitRoom.self)
        #expect(created.sid.hasPrefix("RM_") && created.metadata == "about r" && created.emptyTimeout == 60 && created.numParticipants == 0)

        let ann = try Caller(gateway, room: "r", identity: "ann")
        let track = try ann.publish()
        let rooms = try api.ask("RoomService/ListRooms", LiveKitListRoomsRequest(), as: LiveKitListRoomsResponse.self).rooms
        #expect(rooms.map(\.sid) == [created.sid] && rooms[0].numParticipants == 1 && rooms[0].numPublishers == 1)
        var identity = LiveKitRoomParticipantIdentity()
        (identity.room, identity.identity) = ("r", "ann")
        let found = try api.ask("RoomService/GetParticipant", identity, as: LiveKitParticipantInfo.self)
        #expect(found.state == .active && found.isPublisher && found.tracks.map(\.sid) == [track.sid.text])
        #expect(found.tracks[0].mimeType == "audio/opus" && found.tracks[0].source == .microphone && found.permission.canPublish)
    }

    @Test func jsonHasTheNamesOfProtocolBuffersAndZeros() throws {
        let gateway = try ServerAPI.gateway()
        let api = ServerAPI(gateway)
        #expect(try api.ask("RoomService/ListRooms", "{}").text == #"{"rooms":[]}"#)
        let room = try #require(try api.ask("RoomService/CreateRoom", #"{"name":"r","emptyTimeout":60,"unknown":1}"#).json)
        #expect(room["empty_timeout"] as? Int == 60 && room["metadata"] as? String == "" && room["num_participants"] as? Int == 0)
        #expect(room["active_recording"] as? Bool == false && room["enabled_codecs"] as? [String] == [] && room["version"] is NSNull)
        #expect(Int64(room["creation_time"] as? String ?? "").map { abs($0 - TestToken.now) < 30 } == true, "64-bit integers are text")
        let again = try #require(try api.ask("RoomService/CreateRoom", #"{"name":"r","empty_timeout":5}"#).json)
        #expect(again["sid"] as? String == room["sid"] as? String && again["empty_timeout"] as? Int == 60, "an open room is unchanged")
    }

    @Test func aParticipantIsChangedMutedAndRemoved() throws {
        let gateway = try ServerAPI.gateway()
        let api = ServerAPI(gateway)
        let (ann, bob) = (try Caller(gateway, room: "r", identity: "ann"), try Caller(gateway, room: "r", identity: "bob"))
        let track = try ann.publish()
        let changed = try api.ask(
            "RoomService/UpdateParticipant",
            #"{"room":"r","identity":"ann","name":"Ann","attributes":{"a":"1"},"permission":{"canSubscribe":true}}"#)
        #expect(changed.json?["name"] as? String == "Ann" && changed.json?["attributes"] as? [String: String] == ["a": "1"])
        let permission = changed.json?["permission"] as? [String: Any]
        #expect(permission?["can_publish"] as? Bool == false && permission?["can_subscribe"] as? Bool == true, "replaced as a whole")
        #expect(changed.json?["tracks"] as? [String] == [], "without the permission the track is gone")
        _ = try bob.event("an update of ann") { if case .participantUpdated(let info, _) = $0, info.name == "Ann" { info } else { nil } }

        let mute = #"{"room":"r","identity":"ann","track_sid":"\#(track.sid)","muted":true}"#
        let muted = try api.ask("RoomService/MutePublishedTrack", mute)
        #expect(muted.status == 200 && muted.json?["track"] is NSNull, "an unknown track is no error")
        #expect(try api.ask("RoomService/RemoveParticipant", #"{"room":"r","identity":"ann"}"#).text == "{}")
        #expect(try ann.closeCode() == 4103)
        #expect(try api.refusal("RoomService/RemoveParticipant", #"{"room":"r","identity":"ann"}"#) == "not_found")
    }

    @Test func dataWithTheSameNonceIsSentOnce() throws {
        let gateway = try ServerAPI.gateway()
        let api = ServerAPI(gateway)
        let ann = try Caller(gateway, room: "r", identity: "ann")
        let nonce = Base64.standard.encode([UInt8](repeating: 7, count: 16))
        for text in ["aGk=", "aGk=", "eW8="] {
            let nonce = text == "eW8=" ? "" : nonce
            let body = #"{"room":"r","data":"\#(text)","topic":"t","nonce":"\#(nonce)"}"#
            #expect(try api.ask("RoomService/SendData", body).text == "{}")
        }
        try ann.settle()
        let data = ann.events.compactMap { if case .data(_, "t", let payload) = $0 { payload } else { nil } }
        #expect(data == [.base64("aGk="), .base64("eW8=")])
        #expect(try api.refusal("RoomService/SendData", #"{"room":"r","nonce":"AAAA"}"#) == "invalid_argument")
    }

    @Test(arguments: [
        ("RoomService/CreateRoom", #"{"name":"r"}"#), ("RoomService/ListRooms", "{}"), ("RoomService/DeleteRoom", #"{"room":"r"}"#),
        ("RoomService/ListParticipants", #"{"room":"r"}"#), ("RoomService/GetParticipant", #"{"room":"r","identity":"ann"}"#),
        ("RoomService/RemoveParticipant", #"{"room":"r","identity":"ann"}"#),
        ("RoomService/MutePublishedTrack", #"{"room":"r","identity":"ann","muted":true}"#),
        ("RoomService/UpdateParticipant", #"{"room":"r","identity":"ann","name":"x"}"#),
        ("RoomService/UpdateSubscriptions", #"{"room":"r","identity":"ann"}"#), ("RoomService/SendData", #"{"room":"r","data":"aGk="}"#),
        ("RoomService/UpdateRoomMetadata", #"{"room":"r","metadata":"x"}"#),
        ("RoomService/PerformRpc", #"{"room":"r","destination_identity":"ann","method":"m"}"#),
        ("AgentDispatchService/CreateDispatch", #"{"room":"r","agent_name":"x"}"#), ("AgentDispatchService/ListDispatch", #"{"room":"r"}"#),
        ("AgentDispatchService/DeleteDispatch", #"{"room":"r","dispatch_id":"x"}"#), ("Egress/ListEgress", "{}"),
        ("Egress/StartRoomCompositeEgress", #"{"room_name":"r","audio_only":true}"#), ("Egress/StopEgress", #"{"egress_id":"x"}"#),
    ])
    func everyMethodNeedsItsGrant(method: String, body: String) throws {
        let gateway = try ServerAPI.gateway()
        let ann = try Caller(gateway, room: "r", identity: "ann")
        // A token that only names the room, and an administrator of another one.
        for api in [
            ServerAPI(gateway) { ($0.roomCreate, $0.roomList, $0.roomRecord, $0.roomAdmin) = (false, false, false, false) },
            ServerAPI(gateway, administering: "other") { ($0.roomCreate, $0.roomList, $0.roomRecord) = (false, false, false) },
        ] {
            let answer = try api.ask(method, body)
            #expect(answer.status == 401 && answer.json?["code"] as? String == "unauthenticated", "\(answer.text)")
            #expect((answer.json?["msg"] as? String)?.hasPrefix("permissions denied") == true)
        }
        try ann.settle()
        #expect(ann.events.isEmpty)
    }

    @Test func whatIsNotThereIsSaidAtOnce() throws {
        let api = ServerAPI(try ServerAPI.gateway(), administering: "r")
        #expect(try api.ask("RoomService/ListParticipants", #"{"room":"r"}"#).text == #"{"participants":[]}"#)
        for (method, body) in [
            ("DeleteRoom", #"{"room":"r"}"#), ("GetParticipant", #"{"room":"r","identity":"ann"}"#),
            ("UpdateSubscriptions", #"{"room":"r","identity":"ann"}"#), ("UpdateRoomMetadata", #"{"room":"r"}"#),
            ("SendData", #"{"room":"r","data":"aGk="}"#), ("PerformRpc", #"{"room":"r","destinationIdentity":"ann","method":"m"}"#),
        ] {
            #expect(try api.refusal("RoomService/" + method, body) == "not_found", "\(method)")
        }
        #expect(try api.refusal("AgentDispatchService/DeleteDispatch", #"{"room":"r","dispatchId":"x"}"#) == "not_found")
        #expect(try api.refusal("AgentDispatchService/CreateDispatch", #"{"room":"r","agentName":"nobody"}"#) == "not_found")
        #expect(try api.refusal("AgentDispatchService/CreateDispatch", #"{"room":"r"}"#) == "invalid_argument")
        #expect(try api.refusal("RoomService/MoveParticipant", #"{"room":"r"}"#) == "unimplemented")
        #expect(try api.refusal("Egress/StartTrackEgress", "{}") == "unimplemented")
        #expect(try api.refusal("Egress/StartRoomCompositeEgress", #"{"roomName":"r","audioOnly":true}"#) == "failed_precondition")
    }

    @Test func badRequestsAreTwirpErrors() throws {
        let gateway = try ServerAPI.gateway()
        let api = ServerAPI(gateway)
        let long = String(repeating: "x", count: 257)
        #expect(try api.refusal("RoomService/CreateRoom", #"{"name":""}"#) == "invalid_argument")
        #expect(try api.refusal("RoomService/CreateRoom", #"{"name":"\#(long)"}"#) == "invalid_argument")
        #expect(try api.refusal("RoomService/CreateRoom", #"{"name":"r","room_preset":"p"}"#) == "invalid_argument")
        #expect(try api.refusal("RoomService/CreateRoom", #"{"name":["r"]}"#) == "malformed")
        #expect(try api.refusal("RoomService/CreateRoom", "") == "malformed")
        let update = #"{"room":"other","name":"\#(long)"}"#
        #expect(try api.refusal("RoomService/UpdateParticipant", update) == "invalid_argument", "before the grant")
        #expect(try api.refusal("RoomService/Nothing", "{}") == "bad_route")
        let html = try api.ask("RoomService/ListRooms", "{}", type: "text/html")
        #expect(html.status == 404 && html.json?["code"] as? String == "bad_route")
        #expect((html.json?["meta"] as? [String: String])?["twirp_invalid_route"] == "POST /twirp/livekit.RoomService/ListRooms")
        #expect(try api.ask("RoomService/ListRooms", "{}", type: "application/json;charset=UTF-8").status == 200)
        let get = try #require(try gateway.get("/twirp/livekit.RoomService/ListRooms"))
        #expect(get.status == 404 && get.json?["code"] as? String == "bad_route")
        let anonymous = HTTPAsk.json("POST", "//twirp/livekit.RoomService/ListRooms", "{}")
        let refused = try #require(try HTTPConnection(gateway).answer(to: anonymous))
        #expect(refused.status == 401 && refused.json?["code"] as? String == "unauthenticated")
        let huge = HTTPAsk.json("POST", "/twirp/livekit.RoomService/ListRooms", [UInt8](repeating: 0, count: 2 << 20))
        let tooLarge = try #require(try HTTPConnection(gateway).answer(to: huge))
        #expect(tooLarge.status == 413 && tooLarge.json?["code"] as? String == "resource_exhausted")
    }
}

/// Recordings through LiveKit's Egress service.
@Suite(.onOwnThread, .serialized, .timeLimit(.minutes(1)))
struct EgressTests {
    @Test func aSessionsRecordingIsListedStoppedAndStartedAgain() throws {
        let backend = try TestBackend(records: true)
        let ann = try AppUser(backend)
        let started = try ann.start()
        let phone = try started.join(backend.gateway)
        let recording = try phone.event("the recording") { if case .recordingStarted(let id) = $0 { id } else { nil } }
        let track = try phone.publish()
        for number in 0..<30 { try phone.say(TestFrame.header(track.alias, number).bytes + TestTone.packets[number]) }
        let room = "session-" + started.session
        let api = ServerAPI(backend.gateway, administering: room)

        let running = try #require(try items(api, #"{"active":true}"#).first)
        #expect(running["egress_id"] as? String == recording.text && running["status"] as? String == "EGRESS_ACTIVE")
        #expect(running["room_name"] as? String == room && running["ended_at"] as? String == "0")
        let stopped = try api.ask("Egress/StopEgress", #"{"egress_id":"\#(recording)"}"#)
        #expect(stopped.status == 200 && stopped.json?["status"] as? String == "EGRESS_COMPLETE")
        #expect(try api.refusal("Egress/StopEgress", #"{"egressId":"\#(recording)"}"#) == "failed_precondition")
        try phone.await(.recordingStopped(recording, .asked))

        let again = try api.ask("Egress/StartRoomCompositeEgress", #"{"roomName":"\#(room)","audioOnly":true,"file":{"filepath":"x.ogg"}}"#)
        #expect(again.json?["status"] as? String == "EGRESS_ACTIVE" && again.json?["egress_id"] as? String != recording.text)
        try Patience.until("the file") {
            let files = try items(api, #"{"egress_id":"\#(recording)"}"#).first?["file_results"] as? [[String: Any]]
            return files?.first?["filename"] as? String == RecordedFile.name(of: track.sid, in: recording)
        }
        #expect(try items(api, "{}").map { $0["status"] as? String } == ["EGRESS_ACTIVE", "EGRESS_COMPLETE"])
        #expect(try items(api, #"{"room_name":"other"}"#).isEmpty)
    }

    @Test(arguments: [
        (#""audioOnly":false"#, "unimplemented"), (#""audioOnly":true,"file":{"s3":{"bucket":"b"}}"#, "unimplemented"),
        (#""audioOnly":true,"stream":{}"#, "unimplemented"), (#""audioOnly":true,"fileOutputs":[{"fileType":"MP4"}]"#, "unimplemented"),
        (#""audioOnly":true"#, "failed_precondition"),
    ])
    func onlyRoomsOfSessionsAreRecordedAndOnlyAsFiles(fields: String, code: String) throws {
        let backend = try TestBackend(records: true)
        let ann = try Caller(backend.gateway, room: "r", identity: "ann")
        #expect(try ServerAPI(backend.gateway).refusal("Egress/StartRoomCompositeEgress", #"{"roomName":"r",\#(fields)}"#) == code)
        try ann.settle()
        #expect(ann.events.isEmpty)
    }

    private func items(_ api: ServerAPI, _ request: String) throws -> [[String: Any]] {
        try #require(try api.ask("Egress/ListEgress", request).json?["items"] as? [[String: Any]])
    }
}

struct RecentNoncesTests {
    @Test func aRoomsNonceIsKnownUntilManyOthersCame() {
        var nonces = RecentNonces()
        func isNew(_ nonce: [UInt8], _ room: String = "r") -> Bool { nonces.insert(nonce, of: room) }
        #expect([isNew([1]), isNew([1]), isNew([1], "s")] == [true, false, true])
        #expect([isNew([]), isNew([])] == [true, true], "no nonce, no memory")
        for number in 0..<RecentNonces.countMax - 2 { _ = isNew([0, UInt8(number & 0xFF), UInt8(number >> 8)], "t") }
        #expect(!isNew([1]))
        #expect([isNew([2]), isNew([1])] == [true, true], "the oldest is forgotten")
    }
}
