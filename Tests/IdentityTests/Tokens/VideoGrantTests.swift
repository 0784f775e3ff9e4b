import Foundation
import Identity
import Testing
import Wire

@Suite("VideoGrant")
struct VideoGrantTests {
    @Test(
        "has LiveKit's defaults",
        arguments: [
            (#"{}"#, Permission()),
            (#"{"canPublish":null,"canPublishData":null}"#, Permission()),
            (#"{"canPublish":false}"#, Permission(canPublish: false, canPublishData: false)),
            (#"{"canPublish":false,"canPublishData":true}"#, Permission(canPublish: false)),
            (#"{"canPublishData":false}"#, Permission(canPublishData: false)),
            (#"{"canSubscribe":false}"#, Permission(canSubscribe: false)),
            (#"{"canUpdateOwnMetadata":true,"hidden":true}"#, Permission(canUpdateMetadata: true, hidden: true)),
            (#"{"canPublishSources":["microphone"]}"#, Permission(canPublishSources: ["microphone"])),
        ])
    func permission(_ json: String, _ permission: Permission) throws {
        #expect(try JSONDecoder().decode(VideoGrant.self, from: Data(json.utf8)).permission == permission)
    }

    @Test("grants nothing by default")
    func nothing() {
        let grant = VideoGrant()
        #expect(!grant.roomJoin && !grant.roomCreate && !grant.roomList && !grant.roomRecord && !grant.roomAdmin && !grant.ingressAdmin)
        #expect(!grant.hidden && !grant.recorder && !grant.agent)
        #expect(!grant.allowsUpdatingOwnMetadata && grant.canSubscribeMetrics == nil && grant.canManageAgentSession == nil)
        #expect(grant.room.isEmpty && grant.destinationRoom.isEmpty)
    }

    @Test("narrows what may be published to the listed sources")
    func sources() {
        var grant = VideoGrant.joining("den")
        #expect(grant.allowsPublishing(source: "microphone"))
        grant.canPublishSources = ["microphone"]
        #expect(grant.allowsPublishing(source: "microphone") && !grant.allowsPublishing(source: "camera"))
        grant.canPublish = false
        #expect(!grant.allowsPublishing(source: "microphone"))
    }

    @Test("is written without what is not set")
    func written() throws {
        var grant = VideoGrant.joining("den")
        grant.canSubscribe = false
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let json = String(decoding: try encoder.encode(grant), as: UTF8.self)
        #expect(json == #"{"canSubscribe":false,"room":"den","roomJoin":true}"#)
        #expect(try JSONDecoder().decode(VideoGrant.self, from: Data(json.utf8)) == grant)
    }
}
